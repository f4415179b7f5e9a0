internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import YAMLDocument

/// Reading of FFmpeg's codec and pixel format names.
extension NodeReader {
    /// Reads the name of a codec; nil after an error is reported.
    func codecName(_ node: YAMLNode) -> Located<String>? {
        guard let name = text(node, "`codec`") else { return nil }
        if CodecNames.isCodec(name.value) { return name }
        sink.error(
            .unknownCodec, "unknown codec `\(name.value)`", at: name.range,
            help: CodecCatalog.alias(name.value).map { "did you mean `\($0)`?" }
                ?? Suggestion.help(for: name.value, among: CodecNames.all))
        return nil
    }

    /// Reads a pixel format; nil after an error is reported.
    func pixelFormat(_ node: YAMLNode) -> Located<PixelFormat>? {
        guard let name = text(node, "`pixel_format`") else { return nil }
        if let format = PixelFormat(named: name.value) { return Located(format, at: name.range) }
        sink.error(
            .invalidValue, "unknown pixel format `\(name.value)`", at: name.range,
            help: Suggestion.help(for: name.value, among: PixelFormat.commonNames))
        return nil
    }
}
