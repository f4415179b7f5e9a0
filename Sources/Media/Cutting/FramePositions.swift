package import LibAV

/// Positions of video frames that are requested by number, on the time line of one or more joined ranges of an asset.
/// Frame 0 is the frame on screen at the start of the first range, or the first one after it. Frames are numbered in
/// order of their times, regardless of the frame rate.
package struct FramePositions: Codable, Hashable, Sendable {
    /// Presentation interval of one frame.
    package struct Position: Codable, Hashable, Sendable {
        /// Presentation time of the frame.
        package var start: MediaTime
        /// Time of the next frame, or the end of the range; nil for the last frame of the track.
        package var end: MediaTime?

        package init(start: MediaTime, end: MediaTime?) { (self.start, self.end) = (start, end) }
    }

    /// One position per requested number; nil if there is no such frame.
    package var positions: [Position?]
    /// Number of frames in the ranges if a position is nil; otherwise at least one more than the greatest requested
    /// number.
    package var count: Int64

    package init(positions: [Position?], count: Int64) { (self.positions, self.count) = (positions, count) }

    /// Locates frames among the times of all frames of a track, sorted and without duplicates. Empty `ranges` mean the
    /// whole track.
    package init(of numbers: [Int64], in ranges: [TimeRange], among times: [MediaTime]) {
        self.init(of: numbers, in: ranges, count: times.count) { times[$0] }
    }

    /// Locates frames of a constant frame rate; `frame` is the duration of a frame in seconds.
    package init(of numbers: [Int64], in ranges: [TimeRange], count: Int64, every frame: Rational) {
        self.init(of: numbers, in: ranges, count: Int(clamping: max(0, count))) {
            MediaTime(ticks: Int64($0), timeBase: frame)
        }
    }

    private init(
        of numbers: [Int64], in ranges: [TimeRange], count: Int, time: (Int) -> MediaTime
    ) {
        /// Returns the index of the first frame not before `limit`.
        func firstFrame(notBefore limit: MediaTime) -> Int {
            var (low, high) = (0, count)
            while low < high {
                let middle = low + (high - low) / 2
                if time(middle) < limit { low = middle + 1 } else { high = middle }
            }
            return low
        }
        // Frames of each range (the first one may begin earlier), the number of its first frame, and the range's
        // position on the joined time line.
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
            func outputTime(_ time: MediaTime) -> MediaTime {
                guard let range = part.range else { return time }
                return part.offset + (min(max(time, range.start), range.end) - range.start)
            }
            let end = index + 1 < count ? outputTime(time(index + 1)) : part.range.map { outputTime($0.end) }
            return Position(start: outputTime(time(index)), end: end)
        }
    }
}

extension AssetContents {
    /// Locates frames of a video track by number. Packets are read as far as necessary; if they have no
    /// presentation times, the track is decoded.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func positions(
        of numbers: [Int64], in ranges: [TimeRange], of track: AssetTrack, path: String,
        environment: MediaEnvironment
    ) throws -> FramePositions {
        let bound = FrameBound(numbers: numbers, ranges: ranges)
        let times = try frameTimes(bound, of: track, path: path, environment: environment)
        return FramePositions(of: numbers, in: ranges, among: times.sorted())
    }

    /// Returns the times of the frames in a range, and possibly of some frames before and after.
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

    /// Returns the presentation times of packets; nil if a packet has none.
    private func packetTimes(
        of track: AssetTrack, path: String, _ bound: FrameBound, _ environment: SourceEnvironment
    ) throws -> Set<MediaTime>? {
        let packets = try PacketSource(
            track: track, of: DemuxerModel.named(container), path: path, environment: environment)
        packets.damage.setPolicy(.skip)
        if bound.start > .zero {
            try packets.seek(before: (timeZero + bound.start).ticks(in: track.timeBase, rounding: .down))
        }
        var bound = bound
        var times: Set<MediaTime> = []
        while !bound.isReached, let packet = try packets.next() {
            guard packet.pts != noTimestamp else { return nil }
            guard !packet.isDiscarded, packet.isShown(track.format.parameters.traits) else { continue }
            let time = MediaTime(ticks: packet.pts, timeBase: packets.timeBase) - timeZero
            // Frames before time zero are hidden by an edit list.
            if time >= .zero, times.insert(time).inserted { bound.count(time) }
        }
        return times
    }

    /// Returns the times of decoded frames.
    private func decodedTimes(
        of track: AssetTrack, path: String, _ bound: FrameBound, _ environment: MediaEnvironment
    ) throws -> Set<MediaTime> {
        let samples = try TrackSamples(
            asset: Asset(.file(path), environment: environment), track: track,
            settings: .video(VideoOutputSettings()), extent: ReadingExtent(damagePolicy: .skip),
            decoderThreads: Processors.current.available)
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

/// Condition to stop reading, once all requested frames were read.
private struct FrameBound {
    /// Frames that end before this time aren't needed.
    let start: MediaTime
    /// Number of frames needed after `start`, for a single range.
    private let maxFrames: Int64?
    /// Frames from this time on aren't needed.
    private let end: MediaTime?
    /// Number of frames to read beyond the last requested one: frames are in decoding order, and no codec reorders by
    /// more frames, even with fields.
    private static let reordering: Int64 = 64
    private var (after, past): (Int64, Int64) = (0, 0)

    /// Creates a condition; without `numbers`, all frames of the ranges are needed.
    init(numbers: [Int64]?, ranges: [TimeRange]) {
        start = ranges.map(\.start).min() ?? .zero
        end = ranges.map(\.end).max()
        maxFrames = ranges.count <= 1 ? numbers.map { max(0, $0.max() ?? 0).adding(upToLimit: 2) } : nil
    }

    var isReached: Bool {
        past >= Self.reordering || maxFrames.map { after >= $0.adding(upToLimit: Self.reordering) } ?? false
    }

    mutating func count(_ time: MediaTime) {
        if time > start { after += 1 }
        if let end, time >= end { past += 1 }
    }
}

extension Packet {
    /// Returns whether the packet contains a frame that is shown (VP8's `show_frame`).
    fileprivate borrowing func isShown(_ traits: BitstreamTraits) -> Bool {
        guard traits.hidesFrames else { return true }
        return withBytes { bytes in bytes.first.map { $0 & 0x10 != 0 } ?? false }
    }
}
