package import LibAV

/// Where frames of a video track lie that are requested by number, on the time line of some ranges of the asset joined end to end. Frame 0 is
/// the frame on screen at the start of the first range, or the first one after it. The frames' own times decide, whatever their rate.
package struct FramePositions: Codable, Hashable, Sendable {
    /// One frame.
    package struct Position: Codable, Hashable, Sendable {
        /// When it begins to be shown.
        package var start: MediaTime
        /// When the next one replaces it, or the range ends; nil where only the end of the track ends it.
        package var end: MediaTime?

        /// A position as given.
        package init(start: MediaTime, end: MediaTime?) { (self.start, self.end) = (start, end) }
    }

    /// One for each number; nil where there is no such frame.
    package var positions: [Position?]
    /// The number of frames in the ranges, where a position is nil; otherwise at least one more than the greatest number.
    package var count: Int64

    /// Positions as given.
    package init(positions: [Position?], count: Int64) { (self.positions, self.count) = (positions, count) }

    /// Locates frames among the times of all frames of a track, sorted and without duplicates. Empty `ranges` mean the whole track.
    package init(of numbers: [Int64], in ranges: [TimeRange], among times: [MediaTime]) {
        self.init(of: numbers, in: ranges, count: times.count) { times[$0] }
    }

    /// The same of frames of which each lasts as long as every other.
    package init(of numbers: [Int64], in ranges: [TimeRange], count: Int64, every frame: Rational) {
        self.init(of: numbers, in: ranges, count: Int(clamping: max(0, count))) {
            MediaTime(ticks: Int64($0), timeBase: frame)
        }
    }

    private init(
        of numbers: [Int64], in ranges: [TimeRange], count: Int, time: (Int) -> MediaTime
    ) {
        /// The first frame that isn't shown before `limit`.
        func firstFrame(notBefore limit: MediaTime) -> Int {
            var (low, high) = (0, count)
            while low < high {
                let middle = low + (high - low) / 2
                if time(middle) < limit { low = middle + 1 } else { high = middle }
            }
            return low
        }
        // What each range shows: its frames, the first of them already on screen, and where it begins on the joined time line.
        var shown: [(frames: Range<Int>, first: Int64, range: TimeRange?, offset: MediaTime)] = []
        var (total, offset): (Int64, MediaTime) = (0, .zero)
        if ranges.isEmpty { shown.append((0..<count, 0, nil, .zero)) }
        for range in ranges {
            var first = firstFrame(notBefore: range.start)
            if first > 0, first == count || time(first) > range.start { first -= 1 }
            let frames = first..<max(first, firstFrame(notBefore: range.end))
            shown.append((frames, total, range, offset))
            total += Int64(frames.count)
            offset = offset + range.duration
        }
        self.count = ranges.isEmpty ? Int64(count) : total
        positions = numbers.map { number in
            guard number >= 0,
                let part = shown.last(where: { $0.first <= number && !$0.frames.isEmpty }),
                number - part.first < Int64(part.frames.count)
            else { return nil }
            let index = part.frames.lowerBound + Int(number - part.first)
            func place(_ time: MediaTime) -> MediaTime {
                guard let range = part.range else { return time }
                return part.offset + (min(max(time, range.start), range.end) - range.start)
            }
            let end = index + 1 < count ? place(time(index + 1)) : part.range.map { place($0.end) }
            return Position(start: place(time(index)), end: end)
        }
    }
}

extension AssetContents {
    /// Locates frames of a video track by number. Packets are read as far as necessary; where they don't contain presentation times, the
    /// track is decoded.
    /// - Throws: `MediaError` or `InputError` where the source can't be read.
    package func positions(
        of numbers: [Int64], in ranges: [TimeRange], of track: AssetTrack, path: String,
        environment: MediaEnvironment
    ) throws -> FramePositions {
        let bound = FrameBound(numbers: numbers, ranges: ranges)
        let times = try frameTimes(bound, of: track, path: path, environment: environment)
        return FramePositions(of: numbers, in: ranges, among: times.sorted())
    }

    /// The times of the frames that a range shows, and maybe of some before and after.
    func frameTimes(
        in range: TimeRange, of track: AssetTrack, path: String, environment: MediaEnvironment
    ) throws -> Set<MediaTime> {
        try frameTimes(
            FrameBound(numbers: nil, ranges: [range]), of: track, path: path, environment: environment)
    }

    private func frameTimes(
        _ bound: FrameBound, of track: AssetTrack, path: String, environment: MediaEnvironment
    ) throws -> Set<MediaTime> {
        try packetTimes(of: track, path: path, bound, environment.sources)
            ?? decodedTimes(of: track, path: path, bound, environment)
    }

    /// The presentation times of frames by their packets; nil where a packet has none.
    private func packetTimes(
        of track: AssetTrack, path: String, _ bound: FrameBound, _ environment: SourceEnvironment
    ) throws -> Set<MediaTime>? {
        let packets = try PacketSource(
            track: track, of: SourceContainer(container), path: path, environment: environment)
        packets.damage.follow(.skip)
        if bound.start > .zero {
            try packets.seek(before: (timeZero + bound.start).ticks(in: track.timeBase, rounding: .down))
        }
        var bound = bound
        var times: Set<MediaTime> = []
        while !bound.isReached, let packet = try packets.next() {
            guard packet.pts != noTimestamp else { return nil }
            guard !packet.isDiscarded, packet.isShown(track.format.parameters.traits) else { continue }
            let time = MediaTime(ticks: packet.pts, timeBase: packets.timeBase) - timeZero
            // Before time zero nothing is shown: an edit list hides it.
            if time >= .zero, times.insert(time).inserted { bound.count(time) }
        }
        return times
    }

    /// The times of frames as a decoder gives them.
    private func decodedTimes(
        of track: AssetTrack, path: String, _ bound: FrameBound, _ environment: MediaEnvironment
    ) throws -> Set<MediaTime> {
        let samples = try TrackSamples(
            asset: Asset(.file(path), environment: environment), track: track,
            settings: .video(VideoOutputSettings()), extent: ReadingExtent(damagePolicy: .skip),
            decoderThreads: activeProcessorCount)
        try samples.start()
        defer { samples.cancel() }
        var bound = bound
        var times: Set<MediaTime> = []
        while !bound.isReached, let sample = try samples.next() {
            if times.insert(sample.presentationTime).inserted { bound.count(sample.presentationTime) }
        }
        return times
    }
}

/// How many frames must be known before the requested ones are.
private struct FrameBound {
    /// Nothing that ends before is needed.
    let start: MediaTime
    /// Frames after `start`, where there is one range.
    private let most: Int64?
    /// Nothing from here on is needed.
    private let end: MediaTime?
    /// Frames come in decoding order; no codec reorders by more, even in fields.
    private static let reordering: Int64 = 64
    private var (after, past): (Int64, Int64) = (0, 0)

    /// Without `numbers`, all frames of the ranges are needed.
    init(numbers: [Int64]?, ranges: [TimeRange]) {
        start = ranges.map(\.start).min() ?? .zero
        end = ranges.map(\.end).max()
        most = ranges.count <= 1 ? numbers.map { max(0, $0.max() ?? 0).adding(upToLimit: 2) } : nil
    }

    var isReached: Bool {
        past >= Self.reordering || most.map { after >= $0.adding(upToLimit: Self.reordering) } ?? false
    }

    mutating func count(_ time: MediaTime) {
        if time > start { after += 1 }
        if let end, time >= end { past += 1 }
    }
}

extension Packet {
    /// Whether decoding it yields a frame that is shown.
    fileprivate borrowing func isShown(_ traits: BitstreamTraits) -> Bool {
        guard traits.hidesFrames else { return true }
        return withBytes { bytes in bytes.first.map { $0 & 0x10 != 0 } ?? false }
    }
}
