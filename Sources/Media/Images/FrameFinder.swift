internal import LibAV

/// Finds the frames of a track that are on screen at given times. Confined to one queue.
///
/// Frames between two times are decoded only as far as the later one requires: the reader seeks to a keyframe between
/// them if the file's index contains one, and skips frames that no other frame refers to. If a skipped frame turns
/// out to be the requested one (because it stays on screen longer than its packet's duration), the frames are decoded
/// again without skipping.
final class FrameFinder {
    /// A frame and its presentation time on the asset's time line.
    struct FoundFrame: ~Copyable {
        let frame: Frame
        let time: MediaTime
    }

    private let track: AssetTrack
    private let timeZero: MediaTime
    private let tolerance: ImageTolerance
    private let open: () throws -> (frames: any FrameStream, packets: PacketSource?)
    private let isCancelled: @Sendable () -> Bool

    private var frames: any FrameStream
    /// The packets of a seekable source; nil for a generator.
    private var packets: PacketSource?
    private var unit: Rational
    /// The latest decoded frame at or before the requested time, and the frame after it.
    private var held: Frame?
    private var next: Frame?
    private var heldTime: Int64?
    private var nextTime: Int64?
    /// Time of the track's first frame, once it was found for an earlier requested time.
    private var firstTime: Int64?
    private var hasEnded = false
    /// Whether nothing was read yet.
    private var isAtStart = true
    /// Whether the decoder was drained after a single frame.
    private var isSpent = false
    /// Distance, in the track's time base, above which the reader seeks if there is no index.
    private var unindexedGap: Int64

    /// Creates a finder; `open` starts reading the track from its beginning.
    init(
        track: AssetTrack, timeZero: MediaTime, tolerance: ImageTolerance,
        isCancelled: @escaping @Sendable () -> Bool,
        open: @escaping () throws -> (frames: any FrameStream, packets: PacketSource?)
    ) throws {
        self.track = track
        self.timeZero = timeZero
        self.tolerance = tolerance
        self.isCancelled = isCancelled
        self.open = open
        (frames, packets) = try open()
        unit = frames.timeBase
        unindexedGap = Rational(1, 1).rescale(2, to: unit)
    }

    private var zero: Int64 { timeZero.ticks(in: unit) }
    private var decoded: DecodedFrames? { frames as? DecodedFrames }

    /// Returns the frame on screen at a time, within the tolerance. For times before the first frame it is the first
    /// one, after the end the last one. Nil if the track has no frames.
    func frame(at time: MediaTime) throws -> FoundFrame? {
        let request = Request(time: timeZero + time, tolerance: tolerance, unit: unit)
        if !fits(request) { try find(request) }
        guard let heldTime, let frame = try reference() else { return nil }
        return FoundFrame(frame: frame, time: MediaTime(ticks: heldTime, timeBase: unit) - timeZero)
    }

    /// Returns the time of the keyframe from which a time's frame is decoded, in the track's time base; nil if the
    /// file's index doesn't contain all keyframes.
    func keyFrame(for time: MediaTime) -> Int64? {
        guard let packets, packets.container.isMovie else { return nil }
        return packets.indexedKey(notAfter: (timeZero + time).ticks(in: unit, rounding: .down))
    }

    private func reference() throws -> Frame? {
        guard let frame = held.take() else { return nil }
        let copy = try frame.reference()
        held = consume frame
        return copy
    }

    /// The requested time and its tolerance, in the track's time base.
    private struct Request {
        let target: Int64
        /// Bounds of the tolerance, rounded inward.
        let earliest: Int64
        let latest: Int64

        init(time: MediaTime, tolerance: ImageTolerance, unit: Rational) {
            target = time.ticks(in: unit, rounding: .down)
            earliest =
                tolerance.isExact
                ? target : tolerance.before.map { (time - $0).ticks(in: unit, rounding: .up) } ?? .min
            latest = tolerance.isExact ? target : (time + tolerance.after).ticks(in: unit, rounding: .down)
        }
    }

    /// Returns whether the held frame satisfies the request.
    private func fits(_ request: Request) -> Bool {
        guard let time = heldTime else { return false }
        if tolerance.before != nil, !tolerance.isExact, time >= request.earliest, time <= request.latest {
            return true
        }
        if time == request.target { return true }
        if time > request.target { return time == firstTime }
        return hasEnded || nextTime.map { request.target < $0 } ?? false
    }

    private func find(_ request: Request) throws {
        if acceptsKeyframe(request) {
            try seek(to: request.latest, neededFrom: .min)
            if try readKeyFrame(for: request) { return }
        }
        let target = request.target
        let position = isSpent ? nil : isAtStart ? zero : nextTime ?? heldTime
        if let position, isAtStart || position <= target || heldTime.map({ $0 <= target }) == true {
            if isWorthSeeking(from: position, to: target) {
                let firstDecoded = try seekAndRead(request)
                // The seek led to the same keyframe, so keyframes are sparse, and later seeks require a greater
                // distance.
                if let firstDecoded, firstDecoded <= position { unindexedGap &*= 2 }
            } else {
                decoded?.setNeeded(from: target)
                try read(to: request)
            }
        } else {
            try seekAndRead(request)
        }
        // The seek led to frames that can't be decoded, or to a later position than reported, so the track is read from
        // its beginning.
        if packets?.hasSought == true, heldTime.map({ $0 > target }) ?? true {
            try begin(neededFrom: target)
            try read(to: request)
        }
        guard let passed = decoded?.skippedUntil, let found = heldTime, passed > found, passed <= target
        else {
            return
        }
        try seek(to: target, neededFrom: .min)
        try read(to: request)
    }

    /// Returns whether a keyframe is within the tolerance.
    private func acceptsKeyframe(_ request: Request) -> Bool {
        guard !tolerance.isExact, let packets else { return false }
        if tolerance.before == nil { return true }
        return packets.indexedKey(notAfter: request.latest).map { $0 >= request.earliest } ?? false
    }

    /// Returns whether seeking to a keyframe before the target costs less than decoding the frames up to it.
    private func isWorthSeeking(from position: Int64, to target: Int64) -> Bool {
        guard let packets, !packets.container.estimatedCodecs.contains(track.format.codec) else {
            return false
        }
        // A restart costs about as much as decoding a quarter of a second.
        let few = max(1, Rational(1, 1).rescale(1, to: unit) / 4)
        // An index that is built while reading doesn't contain later frames.
        if let key = packets.indexedKey(notAfter: target), key > position || packets.container.isMovie {
            return key - position > few
        }
        return target - position > unindexedGap
    }

    /// Seeks and decodes up to the target; returns the time of the first frame after the seek, nil if there is none.
    @discardableResult
    private func seekAndRead(_ request: Request) throws -> Int64? {
        try seek(to: request.target, neededFrom: request.target)
        return try read(to: request)
    }

    private func seek(to target: Int64, neededFrom wanted: Int64) throws {
        if let packets, let decoded, target > zero,
            !packets.container.estimatedCodecs.contains(track.format.codec)
        {
            discardFrames()
            try packets.seek(before: target)
            decoded.restart(neededFrom: wanted)
        } else {
            try begin(neededFrom: wanted)
        }
    }

    /// Restarts at the beginning of the source.
    private func begin(neededFrom wanted: Int64) throws {
        discardFrames()
        (frames, packets) = try open()
        decoded?.restart(neededFrom: wanted)
    }

    /// Drops held frames, and resets the state for a seek.
    private func discardFrames() {
        (heldTime, nextTime, hasEnded, isSpent, isAtStart) = (nil, nil, false, false, false)
        held = nil
        next = nil
    }

    /// Decodes a single keyframe; returns false if there is none within the tolerance, or if it can't be decoded
    /// independently.
    private func readKeyFrame(for request: Request) throws -> Bool {
        guard let decoded else { return false }
        isSpent = true
        let frame = try Frame()
        guard try decoded.decodeKeyFrame(notAfter: request.latest, into: frame), frame.pts != noTimestamp,
            frame.pts >= max(zero, request.earliest)
        else { return false }
        hold(frame)
        return true
    }

    private func hold(_ frame: consuming Frame) {
        heldTime = frame.pts
        held = consume frame
    }

    /// Decodes the first frame after a seek if it is the requested keyframe; returns false otherwise.
    private func readFirst(for request: Request) throws -> Bool {
        guard tolerance.isExact, let decoded else { return false }
        let frame = try Frame()
        guard try decoded.decodeKeyFrame(at: request.target, into: frame), frame.pts == request.target else {
            return false
        }
        isSpent = true
        hold(frame)
        return true
    }

    /// Decodes up to the requested time; returns the time of the first decoded frame, nil if there is none.
    @discardableResult
    private func read(to request: Request) throws -> Int64? {
        let target = request.target
        let isFromStart = isAtStart || heldTime == nil && packets?.hasSought != true
        let isFresh = isAtStart || heldTime == nil && nextTime == nil
        isAtStart = false
        if try isFresh && readFirst(for: request) { return target }
        var first: Int64?
        if let time = nextTime, time <= target {
            (heldTime, nextTime) = (time, nil)
            held = next.take()
        }
        let early = tolerance.isExact || tolerance.before == nil ? Int64.max : request.earliest
        while nextTime == nil, !hasEnded {
            if isCancelled() { throw CancellationError() }
            let frame = try Frame()
            guard case .frame = try frames.next(into: frame) else {
                hasEnded = true
                break
            }
            let time = frame.pts
            // Frames before time zero are hidden by an edit list.
            guard time != noTimestamp, time >= zero else { continue }
            first = first ?? time
            if time > target {
                if heldTime == nil {
                    // The first frame is also returned for times before it.
                    if isFromStart { firstTime = time }
                    heldTime = time
                    held = try frame.reference()
                }
                nextTime = time
                next = consume frame
                break
            }
            hold(frame)
            // The first frame within the tolerance is used, even if a later one would be closer.
            if time >= early || time == target { break }
        }
        return first
    }
}
