package import Media

/// A WebVTT file, which is divided into the segments of a subtitle rendition.
package struct WebVTTDocument: Sendable {
    /// A cue with its bytes: identifier, times, settings and text.
    private struct Cue: Sendable {
        let start: MediaTime
        let end: MediaTime
        let lines: Range<Int>
    }

    /// Lines of the header behind `WEBVTT`, without a timestamp map.
    private var metadata: [ArraySlice<UInt8>] = []
    /// Blocks of styles and regions, which apply to all cues.
    private var definitions: [Range<Int>] = []
    private var cues: [Cue] = []
    private let lines: [ArraySlice<UInt8>]

    /// Maximum size of all segments of a document in bytes. Cues that last long are repeated in many segments.
    package static let maxSize = 256 << 20

    /// Parses a file. Comments are dropped.
    ///
    /// - Throws: `StreamingError.invalidWebVTT` without the signature, or for a cue with invalid times.
    package init(_ bytes: [UInt8]) throws(StreamingError) {
        lines = WebVTTSyntax.lines(of: bytes)
        guard let signature = lines.first, WebVTTSyntax.isSignature(signature) else {
            throw .invalidWebVTT(line: 1)
        }
        var position = 1
        while position < lines.count, !lines[position].isEmpty, !WebVTTSyntax.isTiming(lines[position]) {
            if !lines[position].starts(with: Self.timestampMap) { metadata.append(lines[position]) }
            position += 1
        }
        while position < lines.count {
            let block = WebVTTSyntax.block(in: lines, from: position)
            try add(block)
            position = max(position + 1, block.upperBound)
        }
    }

    private mutating func add(_ block: Range<Int>) throws(StreamingError) {
        guard let first = block.first else { return }
        if let timing = block.prefix(2).first(where: { WebVTTSyntax.isTiming(lines[$0]) }) {
            guard let times = WebVTTSyntax.times(lines[timing]) else {
                throw .invalidWebVTT(line: timing + 1)
            }
            cues.append(Cue(start: times.start, end: times.end, lines: block))
        } else if cues.isEmpty, WebVTTSyntax.isDefinition(lines[first]) {
            definitions.append(block)
        }
    }

    /// Returns a file for each segment, with the cues that it overlaps in the document's order; a cue that overlaps several
    /// is in each of them, with its own times. Styles and regions are repeated. Cues outside of all segments are dropped.
    ///
    /// - Parameters:
    ///   - segments: Ranges on the cues' time line, in order and without overlaps.
    ///   - mediaTime: Time of the media's samples when the cues' time is 0. Unless it is 0, segments contain a timestamp
    ///     map (RFC 8216bis, 3.1.4).
    /// - Throws: `StreamingError.subtitlesTooLarge` if all files together exceed `maxSize`.
    package func divided(
        into segments: [TimeRange], mediaTime: MediaTime = .zero
    ) throws(StreamingError) -> [[UInt8]] {
        let header = header(mediaTime: mediaTime)
        let (headers, overflows) = header.count.multipliedReportingOverflow(by: segments.count)
        var size = overflows ? Int.max : headers
        guard size <= Self.maxSize else { throw .subtitlesTooLarge(limit: Self.maxSize) }
        var files = Array(repeating: header, count: segments.count)
        for cue in cues {
            let text = text(of: cue.lines)
            var index = Self.firstIndex(endingAfter: cue.start, in: segments)
            while index < segments.count, Self.overlap(cue, segments[index]) {
                size += text.count
                guard size <= Self.maxSize else { throw .subtitlesTooLarge(limit: Self.maxSize) }
                files[index] += text
                index += 1
            }
        }
        return files
    }

    /// Returns the whole file with a timestamp map in place of an existing one, for a playlist that doesn't divide it. See
    /// `divided` for `mediaTime` and errors.
    package func mapped(to mediaTime: MediaTime) throws(StreamingError) -> [UInt8] {
        try divided(into: [TimeRange(start: .zero, end: .longest)], mediaTime: mediaTime).first ?? []
    }

    /// Returns whether a cue is shown in a segment that ends after the cue's start; one without duration belongs to the
    /// segment of its start.
    private static func overlap(_ cue: Cue, _ segment: TimeRange) -> Bool {
        cue.end > segment.start || cue.start >= segment.start
    }

    private static func firstIndex(endingAfter time: MediaTime, in segments: [TimeRange]) -> Int {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end > time { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private static let timestampMap = Array("X-TIMESTAMP-MAP".utf8)

    private func header(mediaTime: MediaTime) -> [UInt8] {
        var header = Array("WEBVTT\n".utf8)
        if mediaTime != .zero {
            // Timestamps of MPEG-2 have 33 bits.
            let ticks = mediaTime.mpegTicks & 0x1_ffff_ffff
            header += Self.timestampMap + Array("=MPEGTS:\(ticks),LOCAL:00:00:00.000\n".utf8)
        }
        for line in metadata { header += line + [UInt8(ascii: "\n")] }
        for block in definitions { header += text(of: block) }
        return header
    }

    /// Returns an empty line and a block.
    private func text(of block: Range<Int>) -> [UInt8] {
        var text = [UInt8(ascii: "\n")]
        for line in lines[block] {
            text += line
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }
}
