/// The detection of errors in subtitle files that libavformat 5.1 misreads without reporting them.
enum CueFileCheck {
    /// Returns the error because of which libavformat misreads a subtitle file; nil if none is detected.
    static func problem(of source: any ByteSource, in model: DemuxerModel) -> InputError.Reason? {
        guard model.structure == .cues, source.size <= WebVTTText.maxBytes,
            let bytes = source.bytes(at: 0, Int(source.size))
        else { return nil }
        // The demuxer converts files with a UTF-16 byte order mark.
        if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .notUTF8(line: lineThatIsNotUTF8(bytes))
        }
        if model.assumesOrderOfFields, let line = lineOfUnexpectedFields(text) {
            return .unexpectedFields(line: line)
        }
        return nil
    }

    private static func lineThatIsNotUTF8(_ bytes: [UInt8]) -> Int {
        var (decoder, iterator, line) = (UTF8(), bytes.makeIterator(), 1)
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            if scalar == "\n" { line += 1 }
        }
        return line
    }

    /// Names of an event's fields in the order that the demuxer assumes.
    private static let fields: [Set<String>] = [
        ["layer", "marked"], ["start"], ["end"], ["style"], ["name", "actor"], ["marginl"], ["marginr"],
        ["marginv"], ["effect"], ["text"],
    ]

    /// Returns the line number of the `Format:` line in the `[Events]` section of ASS if its fields differ from those
    /// that the demuxer assumes; otherwise nil.
    private static func lineOfUnexpectedFields(_ text: String) -> Int? {
        var isEvents = false
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let words = line.drop(while: \.isWhitespace).lowercased()
            if words.hasPrefix("[") { isEvents = words.hasPrefix("[events]") }
            guard isEvents, words.hasPrefix("format:") else { continue }
            let names = words.dropFirst(7).split(separator: ",").map { $0.filter { !$0.isWhitespace } }
            let isExpected =
                names.count == fields.count && zip(names, fields).allSatisfy { $1.contains($0) }
            return isExpected ? nil : index + 1
        }
        return nil
    }
}
