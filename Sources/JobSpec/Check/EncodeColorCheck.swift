internal import Diagnostics
internal import LibAV

/// Validation of color properties against the codec and the pixel format.
enum EncodeColorCheck {
    /// Checks that color properties can be represented in the codec and the pixel format.
    static func check(
        _ spec: VideoEncodeSpec, encoder: EncoderInfo, into sink: inout DiagnosticSink
    ) {
        guard let color = spec.color, !color.isForHighRangeAlone else { return }
        let (codec, matrix) = (spec.codec.value, color.matrix)
        if codec.codec.fixedColor == .jpeg, let matrix,
            !ColorDescription.isSameMatrix(matrix.value, "bt470bg")
        {
            sink.error(
                .codecSetting, "the matrix of \(codec.name) is always bt470bg",
                at: matrix.range)
        }
        if let matrices = codec.codec.matrices, let matrix, !matrices.contains(matrix.value) {
            sink.error(
                .codecSetting, "the matrix \(matrix.value) is not supported by \(codec.name)",
                at: matrix.range,
                help: "supported: \(matrices.joined(separator: ", "))")
        }
        if let levels = color.levels {
            let own = codec.codec.fixedColor.map { $0 == .jpeg ? ColorRange.full : .limited }
            if let own, own != levels.value {
                sink.error(
                    .codecSetting, "the range of \(codec.name) is always \(own)",
                    at: levels.range)
            }
            if let format = spec.pixelFormat, levels.value == .limited, own == nil,
                format.value.isRGB || format.value.isFullRangeByName
            {
                sink.error(
                    .conflictingKeys,
                    "the pixel format `\(format.value)` is full range, so `range` must be pc",
                    at: levels.range,
                    notes: [Diagnostic.Note("the pixel format is here", at: format.range)])
            }
        }
        guard let matrix else { return }
        let isRGB = matrix.value == ColorDescription.rgbMatrix
        if let format = spec.pixelFormat, format.value.isRGB != isRGB {
            sink.error(
                .conflictingKeys,
                isRGB
                    ? "the matrix gbr requires an RGB pixel format, not `\(format.value)`"
                    : "the RGB pixel format `\(format.value)` requires the matrix gbr", at: matrix.range,
                notes: [Diagnostic.Note("the pixel format is here", at: format.range)])
        } else if isRGB, !codec.pixelFormats(of: encoder).contains(where: \.isRGB) {
            sink.error(
                .codecSetting,
                "the matrix gbr is not supported by \(encoder.name), which has no RGB pixel formats",
                at: matrix.range)
        }
    }
}
