internal import LibAV

/// Finds the frames that are on screen at single moments of a track. Confined to one queue.
///
/// What lies between two moments is decoded only as far as the later one needs it: a key frame between them, as the file's index
/// tells it, is gone to; frames that no other is decoded from are passed over. Where one of these turns out to be the one that was
/// asked for (it stays on screen longer than its packet says), the way there is decoded again as a whole.
final class StillReader {
    /// A frame, and when it comes on screen on the asset's time line.
    struct Still: ~Copyable {
        let frame: Frame
        let time: MediaTime
    }

    private let track: AssetTrack
    private let timeZero: MediaTime
    private let tolerance: ImageTolerance
    private let open: () throws -> (frames: any FrameStream, packets: PacketSource?)
    private let isCancelled: @Sendable () -> Bool

    private var frames: any FrameStream
    /// Of what can be searched; nil of a generator.
    private var packets: PacketSource?
    private var unit: Rational
    /// The latest frame that was decoded and is not after what was asked for, and the one after it.
    private var held: Frame?
    private var next: Frame?
    private var heldTime: Int64?
    private var nextTime: Int64?
    /// When the track's first frame comes on screen, where it stands for the time before it.
    private var firstTime: Int64?
    private var hasEnded = false
    /// Nothing was read yet.
    private var isAtStart = true
    /// The decoder was told that no more comes, after one frame.
    private var isSpent = false
    /// A way without an index is searched when it is longer than this, in the track's time base.
    private var unindexedGap: Int64

    /// `open` begins to read the track at its beginning.
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

    /// The frame on screen at a time, within the tolerance: the first one before there is any, the last one after the end. Nil where
    /// the track shows nothing at all.
    func still(at time: MediaTime) throws -> Still? {
        let goal = Goal(time: timeZero + time, tolerance: tolerance, unit: unit)
        if !fits(goal) { try find(goal) }
        guard let heldTime, let frame = try reference() else { return nil }
        return Still(frame: frame, time: MediaTime(ticks: heldTime, timeBase: unit) - timeZero)
    }

    /// When the key frame comes from which a moment is decoded, in the track's time base; nil where the file's index doesn't tell all of them.
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

    /// What is looked for, in the track's time base.
    private struct Goal {
        let target: Int64
        /// The bounds of the tolerance: what lies between two ticks is outside.
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

    /// What is held is what is asked for.
    private func fits(_ goal: Goal) -> Bool {
        guard let time = heldTime else { return false }
        if tolerance.before != nil, !tolerance.isExact, time >= goal.earliest, time <= goal.latest {
            return true
        }
        if time == goal.target { return true }
        if time > goal.target { return time == firstTime }
        return hasEnded || nextTime.map { goal.target < $0 } ?? false
    }

    private func find(_ goal: Goal) throws {
        if takesKeyFrame(goal) {
            try seek(to: goal.latest, wantedFrom: .min)
            if try readKeyFrame(for: goal) { return }
        }
        let target = goal.target
        let position = isSpent ? nil : isAtStart ? zero : nextTime ?? heldTime
        if let position, isAtStart || position <= target || heldTime.map({ $0 <= target }) == true {
            if isWorthSeeking(from: position, to: target) {
                let landed = try seekAndRead(goal)
                // The same key frame as before: there are few.
                if let landed, landed <= position { unindexedGap &*= 2 }
            } else {
                decoded?.want(from: target)
                try read(to: goal)
            }
        } else {
            try seekAndRead(goal)
        }
        // What a seek came to can't be decoded, or is later than it said: the way there is read from its beginning.
        if packets?.hasSought == true, heldTime.map({ $0 > target }) ?? true {
            try begin(wantedFrom: target)
            try read(to: goal)
        }
        guard let passed = decoded?.passedUntil, let found = heldTime, passed > found, passed <= target else {
            return
        }
        try seek(to: target, wantedFrom: .min)
        try read(to: goal)
    }

    /// A key frame is within the tolerance.
    private func takesKeyFrame(_ goal: Goal) -> Bool {
        guard !tolerance.isExact, let packets else { return false }
        if tolerance.before == nil { return true }
        return packets.indexedKey(notAfter: goal.latest).map { $0 >= goal.earliest } ?? false
    }

    /// There is a key frame on the way, so far ahead that going there costs less than decoding what is before it.
    private func isWorthSeeking(from position: Int64, to target: Int64) -> Bool {
        guard let packets, !packets.container.guessesTimes(ofCodec: track.format.codec) else { return false }
        // To begin anew costs about as much as a few frames.
        let few = max(1, Rational(1, 1).rescale(1, to: unit) / 4)
        // An index that grows while a file is read knows nothing of what is ahead.
        if let key = packets.indexedKey(notAfter: target), key > position || packets.container.isMovie {
            return key - position > few
        }
        return target - position > unindexedGap
    }

    /// The time of the first frame behind the seek.
    @discardableResult
    private func seekAndRead(_ goal: Goal) throws -> Int64? {
        try seek(to: goal.target, wantedFrom: goal.target)
        return try read(to: goal)
    }

    private func seek(to target: Int64, wantedFrom wanted: Int64) throws {
        if let packets, let decoded, target > zero,
            !packets.container.guessesTimes(ofCodec: track.format.codec)
        {
            forget()
            try packets.seek(before: target)
            decoded.restart(wantedFrom: wanted)
        } else {
            try begin(wantedFrom: wanted)
        }
    }

    /// At the beginning of the file.
    private func begin(wantedFrom wanted: Int64) throws {
        forget()
        (frames, packets) = try open()
        decoded?.restart(wantedFrom: wanted)
    }

    /// What was found says nothing of what comes from elsewhere.
    private func forget() {
        (heldTime, nextTime, hasEnded, isSpent, isAtStart) = (nil, nil, false, false, false)
        held = nil
        next = nil
    }

    /// Decodes a key frame alone; false where there is none within the tolerance, or it can't be decoded by itself.
    private func readKeyFrame(for goal: Goal) throws -> Bool {
        guard let decoded else { return false }
        isSpent = true
        let frame = try Frame()
        guard try decoded.decodeKeyFrame(notAfter: goal.latest, into: frame), frame.pts != noTimestamp,
            frame.pts >= max(zero, goal.earliest)
        else { return false }
        hold(frame)
        return true
    }

    private func hold(_ frame: consuming Frame) {
        heldTime = frame.pts
        held = consume frame
    }

    /// What is asked for is the key frame at which reading begins, which needs no other one.
    private func readFirst(for goal: Goal) throws -> Bool {
        guard tolerance.isExact, let decoded else { return false }
        let frame = try Frame()
        guard try decoded.decodeKeyFrame(at: goal.target, into: frame), frame.pts == goal.target else {
            return false
        }
        isSpent = true
        hold(frame)
        return true
    }

    /// Decodes up to a moment; tells when the first frame on the way is shown.
    @discardableResult
    private func read(to goal: Goal) throws -> Int64? {
        let target = goal.target
        let isFromStart = isAtStart || heldTime == nil && packets?.hasSought != true
        let isFresh = isAtStart || heldTime == nil && nextTime == nil
        isAtStart = false
        if try isFresh && readFirst(for: goal) { return target }
        var first: Int64?
        if let time = nextTime, time <= target {
            (heldTime, nextTime) = (time, nil)
            held = next.take()
        }
        let early = tolerance.isExact || tolerance.before == nil ? Int64.max : goal.earliest
        while nextTime == nil, !hasEnded {
            if isCancelled() { throw CancellationError() }
            let frame = try Frame()
            guard case .frame = try frames.next(into: frame) else {
                hasEnded = true
                break
            }
            let time = frame.pts
            // Before time zero nothing is shown: an edit list hides it.
            guard time != noTimestamp, time >= zero else { continue }
            first = first ?? time
            if time > target {
                if heldTime == nil {
                    // Nothing is on screen yet: the first frame stands for it.
                    if isFromStart { firstTime = time }
                    heldTime = time
                    held = try frame.reference()
                }
                nextTime = time
                next = consume frame
                break
            }
            hold(frame)
            // Whatever comes is later.
            if time >= early || time == target { break }
        }
        return first
    }
}
