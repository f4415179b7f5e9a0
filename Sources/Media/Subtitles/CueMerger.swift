internal import DequeModule

/// Turns cues that overlap into ones that follow one another: where several are shown at once, their lines are in one
/// sample of mov_text, which can't say it otherwise (3GPP TS 26.245).
///
/// Cues come as they begin; times are in any one unit.
struct CueMerger {
    /// A sample that is ready.
    struct Sample {
        var start: Int64
        var end: Int64
        var bytes: [UInt8]
    }

    private struct Cue {
        /// Nil where it is shown until the next one.
        var end: Int64?
        var bytes: [UInt8]
        /// It was left out of a sample.
        var isDropped = false
    }

    /// So many at once are more than anybody can read.
    private static let most = 16

    private var shown: [Cue] = []
    private var position = Int64.min
    private var ready = Deque<Sample>()
    /// Cues that were left out, at least for a while.
    private(set) var droppedCues = 0

    /// The next sample; nil until more cues, or their end, are told.
    mutating func next() -> Sample? { ready.popFirst() }

    /// Takes a cue. `end`: nil where it is shown until the next one begins.
    mutating func take(start: Int64, end: Int64?, bytes: [UInt8]) {
        advance(to: start)
        shown.removeAll { $0.end == nil }
        position = max(position, start)
        guard shown.count < Self.most else {
            droppedCues += 1
            return
        }
        shown.append(Cue(end: end, bytes: bytes))
    }

    /// There are no more cues: those that are left end, or last as long as the muxer likes.
    mutating func finish() {
        advance(to: Int64.max)
        if let last = shown.last { ready.append(Sample(start: position, end: position, bytes: last.bytes)) }
        shown = []
    }

    private mutating func advance(to time: Int64) {
        while !shown.isEmpty, position < time {
            let end = min(time, shown.lazy.compactMap(\.end).min() ?? time)
            // Nobody knows how long the last one is.
            guard end < Int64.max else { return }
            if end > position {
                let bytes = merged()
                ready.append(Sample(start: position, end: end, bytes: bytes))
            }
            position = max(position, end)
            shown.removeAll { $0.end.map { $0 <= position } ?? false }
        }
    }

    /// The lines of all that are shown, with their styles.
    private mutating func merged() -> [UInt8] {
        guard shown.count > 1 else { return shown[0].bytes }
        var text: [UInt8] = []
        var styles: [UInt8] = []
        var (characters, styleCount) = (0, 0)
        for index in shown.indices {
            // A sample says the length of its text in 16 bits; text in UTF-16 can't stand beside UTF-8.
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

/// A sample of mov_text.
private struct TimedText {
    let text: [UInt8]
    /// As styles count them.
    let characters: Int
    private let boxes: [UInt8]

    /// Nil where it is malformed or in UTF-16.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return nil }
        let length = Int(bytes[0]) << 8 | Int(bytes[1])
        guard length > 0, bytes.count >= 2 + length else { return nil }
        text = Array(bytes[2..<(2 + length)])
        guard !text.starts(with: [0xfe, 0xff]) else { return nil }
        characters = text.count { $0 & 0xc0 != 0x80 }
        boxes = Array(bytes[(2 + length)...])
    }

    /// Records of `styl`, of 12 bytes each, that begin with the characters from which and to which they hold. Other boxes
    /// are about a sample as a whole, and are left out.
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
                    for place in [0, 2] {
                        let at = (Int(style[place]) << 8 | Int(style[place + 1])) + offset
                        guard at <= 0xffff else { return found }
                        (style[place], style[place + 1]) = (UInt8(at >> 8), UInt8(at & 0xff))
                    }
                    found.append(style)
                }
            }
            start += size
        }
        return found
    }
}
