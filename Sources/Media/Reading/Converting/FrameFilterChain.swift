package import LibAV

/// The chain of filters that converts frames of one format to `settings`, except for the frame rate.
///
/// libavfilter's scaler handles range and matrix incompletely: by default it converts full range to limited range, and
/// it always converts RGB by the BT.601 matrix. So every scaler gets explicit input and output ranges and matrices,
/// including the scalers that libavfilter inserts between filters.
package struct FrameFilterChain {
    let settings: VideoOutputSettings
    let size: PixelSize
    let format: PixelFormat
    /// Whether the input frames have full range (`pc`).
    let isFullRange: Bool
    /// Matrix of the input frames; nil if unspecified, ignored for RGB.
    let matrix: String?
    /// Output size if `settings` set none; nil for the size of the frames.
    let wholeSize: PixelSize?
    let target: PixelFormat
    /// `own`: shape of the input frames. `first`: shape of the track's first frames, for which `settings` was planned.
    var shapes: (own: FrameShape, first: FrameShape)?

    /// Options of scalers that libavfilter inserts between filters. They keep range and matrix, unless a filter
    /// converts colors.
    var scaling: [MetadataEntry] {
        let name =
            format.isRGB ? settings.matrix ?? defaultMatrix : matrix ?? settings.sourceMatrix ?? defaultMatrix
        let range: ColorRange = isFullRange ? .full : .limited
        return Self.changesColor(settings.filters)
            ? Self.flags : Self.scalerOptions(from: range, to: range, matrix: name)
    }

    /// Returns the format of frames after a chain of user filters, without decoding media.
    package static func filteredFormat(_ filters: FilterChain, of input: FrameFormat, matrix: String)
        throws(AVError)
        -> FrameFormat
    {
        // Most filters have no option for range and matrix, and change them only for RGB.
        if changesColor(filters) {
            return try FilterGraph.filteredFormat(filters.steps, of: input, scaling: flags)
        }
        let range = input.color.range ?? input.format.defaultRange
        var after = try FilterGraph.format(
            after: filters.steps, of: input, scaling: scalerOptions(from: range, to: range, matrix: matrix))
        if after.format.isRGB {
            (after.color.matrix, after.color.range) = (ColorDescription.rgbMatrix, .full)
        } else if input.format.isRGB {
            after.color.matrix = matrix
        }
        return after
    }

    /// Converts a black frame, and throws if this build doesn't support the change of primaries, transfer or matrix:
    /// not every combination of named values is supported.
    package static func validateConversion(
        _ settings: VideoOutputSettings, from format: PixelFormat, _ color: ColorDescription,
        to target: PixelFormat
    ) throws(AVError) {
        var plain = VideoOutputSettings()
        (plain.color, plain.mapsTones, plain.matrix) = (settings.color, settings.mapsTones, settings.matrix)
        (plain.levels, plain.sourceMatrix) = (settings.levels, settings.sourceMatrix)
        let format = format.withoutRangeByName
        let range = color.range ?? format.defaultRange
        var known = color
        known.range = range
        known.matrix = color.matrix ?? settings.sourceMatrix
        let size = PixelSize(width: 64, height: 64)
        let chain = FrameFilterChain(
            settings: plain, size: size, format: format, isFullRange: range == .full, matrix: known.matrix,
            wholeSize: nil, target: target)
        _ = try FilterGraph.filteredFormat(
            chain.steps,
            of: FrameFormat(
                width: size.width, height: size.height, format: format, sampleAspectRatio: Rational(1, 1),
                color: known), scaling: chain.scaling)
    }

    /// Returns whether the chain has a filter that may change range or matrix.
    private static func changesColor(_ filters: FilterChain?) -> Bool {
        filters?.steps.contains { ["scale", "zscale", "colorspace", "tonemap"].contains($0.name) } == true
    }

    /// The filters of the chain, in order.
    var steps: [FilterStep] {
        var steps = geometry
        if isConverting {
            if !convertsFirst { steps += conversion }
        } else if settings.size == nil, refitting == nil {
            steps.append(end)
        }
        return steps + [FilterStep("format", ["pix_fmts": "\(target)"])]
    }

    // MARK: Steps

    private var geometry: [FilterStep] {
        var steps: [FilterStep] = []
        switch settings.deinterlacing {
        case .off: break
        case .auto: steps.append(FilterStep("bwdif", ["mode": "send_frame", "deint": "interlaced"]))
        case .on: steps.append(FilterStep("bwdif", ["mode": "send_frame", "deint": "all"]))
        }
        if let crop = settings.crop {
            steps.append(
                FilterStep(
                    "crop",
                    [
                        "out_w": "\(crop.width)", "out_h": "\(crop.height)", "x": "\(crop.x)",
                        "y": "\(crop.y)",
                        "exact": "1",
                    ]))
        }
        if let turn = settings.turn { steps += turn.filters }
        if let filters = settings.filters { steps += filters.steps }
        if let refitting { return steps + refitting }
        guard let size = settings.size else { return steps }
        if isConverting, convertsFirst { steps += conversion }
        switch (settings.fit, settings.innerSize) {
        case (.contain, let inner?):
            steps += [.scale(to: inner, colors), FilterStep("setsar", ["sar": "1"]), .pad(to: size)]
        case (.cover, let inner?):
            steps += [.scale(to: inner, colors), FilterStep("setsar", ["sar": "1"]), .crop(to: size)]
        default: steps.append(.scale(to: size, colors))
        }
        return steps
    }

    /// Range and matrix options of the first scaler.
    private var colors: [MetadataEntry] {
        convertsFirst
            ? Self.scalerOptions(from: outputRange, to: outputRange, matrix: nil)
            : scalerOptions(to: isConverting ? innerRange : outputRange)
    }

    /// Whether colors are converted before scaling: conversion happens where frames have fewer pixels, before
    /// upscaling or after downscaling.
    private var convertsFirst: Bool {
        guard isConverting, !isCrossing, refitting(colors: []) == nil,
            let box = settings.innerSize ?? settings.size
        else { return false }
        let own = settings.crop.map { $0.width * $0.height } ?? size.width * size.height
        return own < box.width * box.height
    }

    /// Filters that fit the input frames into the planned size if their shape differs from that of the first frames;
    /// otherwise nil.
    private var refitting: [FilterStep]? { refitting(colors: colors) }

    private func refitting(colors: @autoclosure () -> [MetadataEntry]) -> [FilterStep]? {
        guard let box = settings.size ?? wholeSize, let shapes else { return nil }
        return shapes.own.steps(into: box, planned: shapes.first, settings, colors: colors())
    }

    /// Color conversion by `zscale`, which also converts to the target's pixel format.
    private var conversion: [FilterStep] {
        guard let color = settings.color else { return [] }
        // libavfilter would convert packed RGB to YUV before `zscale`; planar RGB formats avoid this.
        let planes = [
            "gbrp", "gbrp9le", "gbrp10le", "gbrp12le", "gbrp14le", "gbrp16le", "gbrap", "gbrap10le",
            "gbrap12le",
            "gbrap16le",
        ]
        let before =
            inner.isRGB ? [FilterStep("format", ["pix_fmts": planes.joined(separator: "|")])] : []
        if settings.mapsTones { return before + color.toneMappingFilters(defaultRange: outputRange) }
        var target = color
        if isCrossing, inner.isRGB { target.matrix = settings.matrix }
        guard var step = target.conversionFilter else { return before }
        step.options.append(MetadataEntry(key: "range", value: outputRange.zscaleName))
        return before + [step]
    }

    /// The last scaler. If frames change size mid-stream, it scales all of them to one size. If the size stays the
    /// same, it resamples the chroma of frames flagged as interlaced per field (`interl=-1`).
    private var end: FilterStep {
        guard let whole = wholeSize else {
            return FilterStep("scale", options: scalerOptions(to: outputRange))
        }
        let fields = MetadataEntry(key: "interl", value: "-1")
        return .scale(
            to: whole,
            (size == whole && size.height.isMultiple(of: 4) ? [fields] : []) + scalerOptions(to: outputRange))
    }

    // MARK: Range and matrix

    private static let flags = [MetadataEntry(key: "flags", value: "bicubic")]

    /// Pixel format after the user's filters, or of the input frames without filters.
    private var inner: PixelFormat { settings.filtered?.pixelFormat ?? format }

    /// Range of the frames after the user's filters.
    private var innerRange: ColorRange {
        guard let filtered = settings.filtered else { return isFullRange ? .full : .limited }
        return filtered.range ?? filtered.pixelFormat.defaultRange
    }

    private var outputRange: ColorRange {
        target.isFullRangeByName || target.isRGB
            ? .full : settings.levels ?? (inner.isRGB ? .limited : innerRange)
    }

    /// Whether RGB is converted to YUV or YUV to RGB.
    private var isCrossing: Bool { inner.isRGB != target.isRGB }

    private var isConverting: Bool { settings.mapsTones || settings.color?.conversionFilter != nil }

    private var defaultMatrix: String {
        ColorDescription.defaultMatrix(width: size.width, height: size.height)
    }

    /// Range and matrix options of the last scaler.
    private func scalerOptions(to range: ColorRange) -> [MetadataEntry] {
        guard isCrossing else { return Self.scalerOptions(from: innerRange, to: range, matrix: nil) }
        let own = settings.filtered == nil ? matrix : settings.filtered?.matrix
        return Self.scalerOptions(
            from: innerRange, to: range,
            matrix: inner.isRGB
                ? settings.matrix ?? defaultMatrix : own ?? settings.sourceMatrix ?? defaultMatrix
        )
    }

    private static func scalerOptions(from: ColorRange, to: ColorRange, matrix: String?) -> [MetadataEntry] {
        let ranges = [
            MetadataEntry(key: "in_range", value: from.rawValue),
            MetadataEntry(key: "out_range", value: to.rawValue),
        ]
        let matrices = ColorDescription.scaleName(ofMatrix: matrix).map {
            [
                MetadataEntry(key: "in_color_matrix", value: $0),
                MetadataEntry(key: "out_color_matrix", value: $0),
            ]
        }
        return flags + ranges + (matrices ?? [])
    }
}
