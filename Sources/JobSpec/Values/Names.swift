internal import Diagnostics
internal import LibAV
internal import Media

/// The syntax of names that FFmpeg, containers and servers define, of channel layouts and of colors.
extension Language {
    /// The form of FFmpeg's names of codecs and formats.
    private static func libavName(_ example: String) -> ScalarForm {
        .libraryName(pattern: "^[a-zA-Z0-9][a-zA-Z0-9_.+-]*$", example: example)
    }
    static let videoCodecName = codecName("h264")
    static let audioCodecName = codecName("aac")

    private static func codecName(_ example: String) -> ValueSyntax<String> {
        ValueSyntax(
            [libavName(example)],
            refusal: { text, _ in
                InvalidValue(
                    rule: .unknownCodec, message: "unknown codec `\(text)`",
                    help: CodecCatalog.alias(text).map { "did you mean `\($0)`?" }
                        ?? Suggestion.help(for: text, among: CodecNames.all))
            }, parser: { CodecNames.isCodec($0) ? $0 : nil })
    }

    static let pixelFormat = ValueSyntax(
        [libavName("yuv420p")],
        refusal: { text, _ in
            InvalidValue(
                message: "unknown pixel format `\(text)`",
                help: Suggestion.help(for: text, among: PixelFormat.commonNames))
        }, parser: { PixelFormat(named: $0) })

    static let sampleFormat = ValueSyntax(
        [
            .word([
                "u8", "s16", "s32", "s64", "flt", "dbl", "u8p", "s16p", "s32p", "s64p", "fltp", "dblp",
            ])
        ], expected: "expected a sample format of FFmpeg such as s16, s32 or fltp",
        parser: { SampleFormat(named: $0) })

    /// A language code such as `eng` or `pt-BR`.
    static let languageTag = ValueSyntax(
        [.text(pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", example: "eng")],
        expected: "expected a language code such as eng or pt-BR"
    ) { text -> String? in
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isCode =
            (2...3).contains(parts[0].utf8.count) && parts[0].utf8.allSatisfy(isLetter)
            && parts.dropFirst().allSatisfy { part in
                (2...8).contains(part.utf8.count)
                    && part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
            }
        return isCode ? text : nil
    }

    /// The URL of a media file.
    static let url = ValueSyntax(
        [.text(pattern: "^https?://[^/@ ]+/[^ ]*$", example: "https://host/a.mp4")],
        expected:
            "expected an http or https URL such as https://host/path, without spaces, and without a password, which reports would contain"
    ) { text -> String? in
        guard SourceLocation.isRemote(text), text.utf8.count <= maxPath,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
        else { return nil }
        let rest = text.drop { $0 != "/" }.dropFirst(2)
        let host = rest.prefix { $0 != "/" }
        return !host.isEmpty && !host.contains("@") && host.count < rest.count ? text : nil
    }
    /// The maximum length of a path or URL in bytes.
    static let maxPath = 4096

    /// The path of an image sequence, with a placeholder for the number.
    static let imagesPath = ValueSyntax(
        [.text(pattern: NumberedName.pattern, example: "render/%05d.png")],
        refusal: { _, _ in
            InvalidValue(
                message: "the file name must contain exactly one placeholder for the number",
                help:
                    "`%05d` stands for five digits, as in `frame-%05d.png`, `%d` for any number of digits; `%%` is a percent sign"
            )
        }, parser: { NumberedName(path: $0) == nil ? nil : $0 })

    /// A channel layout: a number of channels, or a name of FFmpeg.
    static let channels = ValueSyntax(
        [
            .integer(channelCounts),
            // Listed as words because YAML parsers return some of them, such as `5.1`, as numbers.
            .word([
                "mono", "stereo", "2.1", "3.0", "3.1", "4.0", "4.1", "quad", "5.0", "5.1", "6.0", "6.1",
                "7.0",
                "7.1",
            ]),
            .libraryName(
                pattern:
                    #"^([a-zA-Z][a-zA-Z0-9.+() -]*|[0-9]+\.[0-9]+(\([a-z-]+\))?|[0-9]+([cC]| channels)|0x[0-9a-fA-F]+)$"#,
                example: "5.1(side)"),
        ],
        expected:
            "expected mono, stereo, 5.1, a number of channels up to \(channelCounts.upperBound), or a channel layout of FFmpeg",
        help: {
            ForeignWords.value($0, of: "channels", among: ["mono", "stereo", "5.1"]).map {
                "did you mean `\($0)`?"
            }
        }
    ) { text -> ChannelLayout? in
        guard let count = Quantity.integer(text) else {
            // libavutil ignores spaces and a sign before a number of channels.
            let isName = text.utf8.first.map { $0 > 0x20 && $0 != 0x2b && $0 != 0x2d } == true
            return isName ? ChannelLayout(named: text) : nil
        }
        return channelCounts.contains(count) ? ChannelLayout(defaultFor: count) : nil
    }
    private static let channelCounts = 1...16

    static let boolean = ValueSyntax(
        [.boolean], expected: "expected `true` or `false`",
        help: { text in
            switch text.lowercased() {
            case "yes", "on", "1", "y", "true", "enabled": "did you mean `true`?"
            case "no", "off", "0", "n", "false", "disabled": "did you mean `false`?"
            default: nil
            }
        }
    ) { $0 == "true" ? true : $0 == "false" ? false : nil }

    // MARK: Colors

    /// A color as text, such as `white` or `#ffcc00`, with its digits.
    struct NamedColor: Sendable {
        /// The color as it is written.
        let text: String
        /// Six hexadecimal digits, without alpha.
        let digits: String
    }
    /// The color of a text in a composition.
    static let textColor = ValueSyntax(
        [
            .word(colorNames.map(\.name)),
            .text(pattern: "^#[0-9A-Fa-f]{6}([0-9A-Fa-f]{2})?$", example: "#ffcc00"),
        ], expected: "expected a name such as white, or a code such as #ffcc00"
    ) { text -> NamedColor? in
        if let named = colorNames.first(where: { $0.name == text }) {
            return NamedColor(text: text, digits: named.digits)
        }
        return WaveformImage.Color(text).map { _ in
            NamedColor(text: text, digits: String(text.dropFirst().prefix(6)))
        }
    }
    private static let colorNames: [(name: String, digits: String)] = [
        ("white", "ffffff"), ("black", "000000"), ("red", "ff0000"), ("green", "008000"),
        ("blue", "0000ff"), ("yellow", "ffff00"), ("cyan", "00ffff"), ("magenta", "ff00ff"),
        ("gray", "808080"),
    ]

    /// A color of a drawn waveform.
    static let waveformColor = ValueSyntax(
        [.text(pattern: "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$", example: "#1f77b4")],
        expected: "expected a color such as #1f77b4 or #1f77b480", parser: { WaveformImage.Color($0) })
}
