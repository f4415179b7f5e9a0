internal import LibAV

/// ASS script for libass with a track's subtitle events: the styles of its header, and a line for each event. Fonts and
/// images embedded in the header are dropped.
struct SubtitleScript {
    /// Limits of a script's size.
    static let maxEvents = 100_000
    static let maxBytes = 32 << 20

    private(set) var text: String
    private var cues = 0

    /// Creates a script; `header` is the ASS header (`CodecParameters.extradata`), `frameHeight` the height in pixels of
    /// the frames.
    init(header: [UInt8], style: SubtitleStyle, frameHeight: Int) {
        var lines: [String] = []
        var (section, format, scale) = ("", [Substring](), 288.0)
        for line in String(decoding: header.prefix(1 << 20), as: UTF8.self).split(whereSeparator: \.isNewline)
        {
            if line.hasPrefix("[") { section = line.lowercased() }
            guard section == "[script info]" || section.hasSuffix("styles]") else { continue }
            if line.hasPrefix("PlayResY:") { scale = Double(Self.value(of: line)) ?? scale }
            if line.hasPrefix("Format:") {
                format = Self.value(of: line).split(separator: ",").map { Self.trimmed($0) }
            }
            lines.append(
                line.hasPrefix("Style:")
                    ? Self.styled(line, format, style, unit: scale / Double(max(1, frameHeight)))
                    : String(line))
        }
        text = lines.joined(separator: "\n")
        text +=
            "\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    }

    /// Adds an event in libavcodec's format: the read order, then the fields of a `Dialogue` line without the times.
    /// - Throws: `MediaError` if the script exceeds `maxEvents` or `maxBytes`.
    mutating func add(_ bytes: UnsafeRawBufferPointer, from start: MediaTime, to end: MediaTime) throws {
        let fields = String(decoding: bytes, as: UTF8.self).split(
            separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
        guard fields.count == 9 else { return }
        cues += 1
        guard cues <= Self.maxEvents, text.utf8.count < Self.maxBytes else {
            throw MediaError.limitExceeded(
                "the subtitles exceed \(Self.maxEvents) events or \(Self.maxBytes) bytes")
        }
        let rest = fields[2...].joined(separator: ",").split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).joined(separator: "\\N")
        text += "Dialogue: \(fields[1]),\(Self.clock(start)),\(Self.clock(end)),\(rest)\n"
    }

    private static func value(of line: Substring) -> String {
        String(trimmed(line.drop { $0 != ":" }.dropFirst()))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// Returns a style line with the values of a style; `unit` is a pixel of the frame in the script's units.
    private static func styled(
        _ line: Substring, _ format: [Substring], _ style: SubtitleStyle, unit: Double
    ) -> String {
        var fields = value(of: line).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        func set(_ name: String, _ value: String?) {
            guard let value, let index = format.firstIndex(of: name[...]), fields.indices.contains(index)
            else { return }
            fields[index] = value
        }
        set("Fontname", style.font)
        set("Fontsize", style.size.map { "\(max(1, (Double($0) * unit * 100).rounded() / 100))" })
        if let color = style.color {
            let parts = Array(color)
            set("PrimaryColour", "&H00" + String(parts[4...5] + parts[2...3] + parts[0...1]))
        }
        return "Style: " + fields.joined(separator: ",")
    }

    /// Formats a time as hours, minutes, seconds and hundredths.
    private static func clock(_ time: MediaTime) -> String {
        let ticks = max(0, time.ticks(in: Rational(1, 100)))
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(ticks / 360_000):\(two(ticks / 6000 % 60)):\(two(ticks / 100 % 60)).\(two(ticks % 100))"
    }
}
