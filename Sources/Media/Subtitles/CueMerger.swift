internal import DequeModule

/// Merges overlapping subtitle events: mov_text can't represent overlaps, so the lines of events that are shown at the
/// same time share a sample (3GPP TS 26.245).
///
/// Events must be added in order of their start, with times in one unit.
struct CueMerger {
    /// A mov_text sample with its presentation times.
    struct Sample {
        var start: Int64
        var end: Int64
        var bytes: [UInt8]
    }

    private struct Cue {
        /// End of the event; nil if it is shown until the next one.
        var end: Int64?
        var bytes: [UInt8]
        /// Whether the event was omitted from a sample.
        var isDropped = false
    }

    /// Maximum number of events shown at the same time.
    private static let maxShown = 16

    private var shown: [Cue] = []
    private var position = Int64.min
    private var ready = Deque<Sample>()
    /// Number of events omitted from at least one sample.
    private(set) var droppedCues = 0

    /// Returns the next sample; nil until later events, or the end, are known.
    mutating func next() -> Sample? { ready.popFirst() }

    /// Adds an event; `end` is nil if it is shown until the next one begins.
    mutating func take(start: Int64, end: Int64?, bytes: [UInt8]) {
        advance(to: start)
        shown.removeAll { $0.end == nil }
        position = max(position, start)
        guard shown.count < Self.maxShown else {
            droppedCues += 1
            return
        }
        shown.append(Cue(end: end, bytes: bytes))
    }

    /// Signals the end of the events. Pending events keep their ends; an event without an end gets the duration 0,
    /// which the muxer replaces.
    mutating func finish() {
        advance(to: Int64.max)
        if let last = shown.last { ready.append(Sample(start: position, end: position, bytes: last.bytes)) }
        shown = []
    }

    private mutating func advance(to time: Int64) {
        while !shown.isEmpty, position < time {
            let end = min(time, shown.lazy.compactMap(\.end).min() ?? time)
            // The duration of the last event is unknown.
            guard end < Int64.max else { return }
            if end > position {
                let bytes = merged()
                ready.append(Sample(start: position, end: end, bytes: bytes))
            }
            position = max(position, end)
            shown.removeAll { $0.end.map { $0 <= position } ?? false }
        }
    }

    /// Returns a sample with the lines and styles of all shown events.
    private mutating func merged() -> [UInt8] {
        guard shown.count > 1 else { return shown[0].bytes }
        var text: [UInt8] = []
        var styles: [UInt8] = []
        var (characters, styleCount) = (0, 0)
        for index in shown.indices {
            // The length of a sample's text has 16 bits, and UTF-16 text can't be combined with UTF-8.
            guard let sample = TimedText(shown[index].bytes), text.count + sample.text.count < 0xffff else {
                if !shown[index].isDropped { droppedCues += 1 }
                shown[index].isDropped = true
                continue
            }
            if !text.isEmpty {
                text.append(UInt8(ascii: "\n"))
                characters += 1
            }
            for style in sample.styles(movedBy: characters) where styleCount < 0xffff {
                styles += style
                styleCount += 1
            }
            text += sample.text
            characters += sample.characters
        }
        var bytes = [UInt8(text.count >> 8), UInt8(text.count & 0xff)] + text
        if styleCount > 0 {
            let size = 10 + styles.count
            bytes += (0..<4).reversed().map { UInt8(size >> (8 * $0) & 0xff) } + Array("styl".utf8)
            bytes += [UInt8(styleCount >> 8 & 0xff), UInt8(styleCount & 0xff)] + styles
        }
        return bytes
    }
}

/// A parsed mov_text sample (3GPP TS 26.245).
private struct TimedText {
    let text: [UInt8]
    /// Number of Unicode characters, the unit of style records.
    let characters: Int
    private let boxes: [UInt8]

    /// Returns nil if the sample is empty, malformed, or in UTF-16.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        let length = Int(bytes[0]) << 8 | Int(bytes[1])
        guard length > 0, bytes.count >= 2 + length else { return nil }
        text = Array(bytes[2..<(2 + length)])
        guard !text.starts(with: [0xfe, 0xff]) else { return nil }
        characters = text.count { $0 & 0xc0 != 0x80 }
        boxes = Array(bytes[(2 + length)...])
    }

    /// Returns the `styl` records (12 bytes each), with their character ranges shifted by `offset`. Other boxes apply
    /// to a whole sample, and are dropped.
    func styles(movedBy offset: Int) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var start = 0
        while boxes.count - start >= 8 {
            let size = (0..<4).reduce(0) { $0 << 8 | Int(boxes[start + $1]) }
            guard size >= 8, size <= boxes.count - start else { break }
            if boxes[(start + 4)..<(start + 8)].elementsEqual("styl".utf8), size >= 10 {
                let count = min(Int(boxes[start + 8]) << 8 | Int(boxes[start + 9]), (size - 10) / 12)
                for index in 0..<count {
                    let record = start + 10 + 12 * index
                    var style = Array(boxes[record..<(record + 12)])
                    for byte in [0, 2] {
                        let at = (Int(style[byte]) << 8 | Int(style[byte + 1])) + offset
                        guard at <= 0xffff else { return found }
                        (style[byte], style[byte + 1]) = (UInt8(at >> 8), UInt8(at & 0xff))
                    }
                    found.append(style)
                }
            }
            start += size
        }
        return found
    }
}
