internal import DequeModule
internal import Glibc
internal import LibAV

/// Passes packets on while the output stays within a size limit, and ends all tracks together at the limit (unlike
/// `AVAssetExportSession.fileLengthLimit`, the limit is strict).
///
/// Packets of all tracks arrive in order of their decoding times, and presentation times are not before decoding times.
/// So all packets presented before the newest decoding time have arrived. The output can end at any such time for which
/// the frames presented before it are also the first ones in decoding order. The last of these frames is then presented
/// until that time. Packets are queued until the next possible end is known, and are passed on if everything up to it
/// fits.
///
/// Confined to the writer's queue.
final class FileSizeLimiter {
    /// A time base that represents the ticks of all common sample rates and frame rates.
    static let unit = Rational(1, 705_600_000)

    private struct Waiting: ~Copyable {
        let packet: Packet
        let track: Int
        /// Index among the track's packets.
        let number: Int
        let cost: Int64
        let start: Int64
        let end: Int64
        var isCounted = false
    }

    /// A possible end of a video track: before the packet with index `number`, at a time after `latest` and at or
    /// before `next`.
    private struct EndPosition {
        var number: Int
        /// The latest presentation time of packets before `number`.
        var latest: Int64
        /// The earliest presentation time of the other packets.
        var next: Int64
    }

    /// Queue of a subtitle track, separate because its events may be long.
    private final class Cues {
        var waiting = UniqueDeque<Waiting>()
    }

    private struct Track {
        let timeBase: Rational
        /// Whether presentation order differs from decoding order.
        let reorders: Bool
        let isText: Bool
        let cues: Cues?
        var count = 0
        /// The latest presentation time of the packets so far.
        var latest = Int64.min
        /// Possible ends in order, without those that later packets ruled out.
        var endPositions: [EndPosition] = []
        /// Number of packets that fit within the limit, and their latest presentation time.
        var counted = 0
        var latestCounted = Int64.min
    }

    private let limit: Int64
    /// Whether the container stores durations of samples, so that samples at the output's end can be shortened or
    /// extended. Otherwise audio that extends past the end is dropped.
    private let canShorten: Bool
    private var model: OutputSizeModel
    private var tracks: [Track]
    private let primary: Int
    /// Maximum number of queued subtitle events; further ones are written with their declared durations.
    private static let maxCues = 1000
    /// Maximum numbers of packets and bytes queued after a long frame; beyond them, the frame is written with its
    /// declared duration.
    private static let maxWaiting = (packets: 2000, bytes: 32 << 20)
    private var waiting = UniqueDeque<Waiting>()
    private var waitingBytes = 0
    private var bytes: Int64
    /// Time up to which all packets fit within the limit; nil before the first such time.
    private var fitting: Int64?

    /// Creates a limiter. `bytes` is the size of the output without packets; `tracks` contains the writer's tracks,
    /// with the time bases of their packets.
    init(
        limit: Int64, bytes: Int64, model: OutputSizeModel, canShorten: Bool,
        tracks: [(mediaType: MediaType, timeBase: Rational)]
    ) {
        self.limit = limit
        self.bytes = bytes
        self.model = model
        self.canShorten = canShorten
        let kinds = tracks.map(\.mediaType)
        let primary = kinds.firstIndex(of: .video) ?? kinds.firstIndex(of: .audio) ?? 0
        self.primary = primary
        self.tracks = tracks.enumerated().map { index, track in
            Track(
                timeBase: track.timeBase, reorders: track.mediaType == .video,
                isText: track.mediaType == .subtitle,
                cues: track.mediaType == .subtitle && index != primary ? Cues() : nil)
        }
    }

    /// Receives the next packet of a track. Returns nil while the output continues; otherwise the end of the output,
    /// after everything that fits was written. Further packets are ignored.
    func take(
        _ packet: consuming Packet, track index: Int,
        into write: (consuming Packet, Int) throws(OutputFailure) -> Void
    ) throws(OutputFailure) -> MediaTime? {
        let unit = tracks[index].timeBase
        let start = unit.rescale(packet.pts, to: Self.unit)
        let end = start &+ unit.rescale(max(0, packet.duration), to: Self.unit)
        let key = unit.rescale(packet.dts, to: Self.unit)
        let cost = model.cost(of: packet, track: index, at: key / Int64(Self.unit.den))
        note(start: start, of: index)
        let number = tracks[index].count - 1
        let size = packet.size
        let next = Waiting(packet: packet, track: index, number: number, cost: cost, start: start, end: end)
        if let cues = tracks[index].cues {
            cues.waiting.append(next)
        } else {
            waiting.append(next)
            waitingBytes += size
        }
        for time in times(upTo: key, start: tracks[index].cues == nil ? start : Int64.max) {
            guard fits(upTo: time) else { return try stop(into: write) }
        }
        try release(into: write)
        return nil
    }

    /// Signals the end of the packets. Returns nil if everything fits; otherwise the end of the output, like `take`.
    func finish(into write: (consuming Packet, Int) throws(OutputFailure) -> Void) throws(OutputFailure)
        -> MediaTime?
    {
        if bytes + Self.cost(of: waiting) + cues.reduce(0, { $0 + Self.cost(of: $1.waiting) }) <= limit {
            while let next = waiting.popFirst() { try write(next.packet, next.track) }
            for cues in cues {
                while let next = cues.waiting.popFirst() { try write(next.packet, next.track) }
            }
            return nil
        }
        for time in times(upTo: Int64.max, start: Int64.max) where !fits(upTo: time) { break }
        return try stop(into: write)
    }

    private var cues: [Cues] { tracks.compactMap(\.cues) }

    private static func cost(of waiting: borrowing UniqueDeque<Waiting>) -> Int64 {
        var cost: Int64 = 0
        for position in waiting.indices where !waiting[position].isCounted { cost += waiting[position].cost }
        return cost
    }

    // MARK: Possible ends

    private func note(start: Int64, of index: Int) {
        tracks[index].count += 1
        guard tracks[index].reorders else { return }
        // A packet presented before the latest earlier one rules out the ends between them.
        while let last = tracks[index].endPositions.last, last.latest >= start {
            tracks[index].endPositions.removeLast()
        }
        for position in tracks[index].endPositions.indices {
            tracks[index].endPositions[position].next = min(tracks[index].endPositions[position].next, start)
        }
        tracks[index].latest = max(tracks[index].latest, start)
        tracks[index].endPositions.append(
            EndPosition(number: tracks[index].count, latest: tracks[index].latest, next: Int64.max))
    }

    /// Returns the times at which the output could end, after the last one that fits: the starts of frames, and of
    /// packets of other tracks. All packets presented before `key` have arrived.
    private func times(upTo key: Int64, start: Int64) -> [Int64] {
        var times: [Int64] = []
        let lastFitting = fitting ?? Int64.min
        if tracks[primary].reorders {
            times = tracks[primary].endPositions.map(\.next).filter {
                $0 > lastFitting && $0 <= key && $0 < Int64.max
            }
        }
        if start <= key, start > lastFitting, start > (times.last ?? Int64.min) {
            if tracks[primary].reorders
                ? endPosition(of: primary, at: start) != nil : tracks[primary].count > 0
            {
                times.append(start)
            }
        }
        return times
    }

    /// Returns the end of a video track for an output that ends at `time`; nil if the track can't end there.
    private func endPosition(of index: Int, at time: Int64) -> EndPosition? {
        tracks[index].endPositions.last { $0.latest < time && time <= $0.next }
    }

    /// Returns whether everything before a time fits, and if so, marks the packets as counted.
    private func fits(upTo time: Int64) -> Bool {
        let ends: [Int?] = tracks.indices.map { index in
            guard tracks[index].reorders else { return nil }
            return endPosition(of: index, at: time)?.number ?? tracks[index].counted
        }
        let queues = cues
        var more = count(&waiting, ends, at: time, marks: false)
        for queue in queues { more += count(&queue.waiting, ends, at: time, marks: false) }
        guard bytes + more <= limit else { return false }
        _ = count(&waiting, ends, at: time, marks: true)
        for queue in queues { _ = count(&queue.waiting, ends, at: time, marks: true) }
        bytes += more
        fitting = time
        for index in tracks.indices where tracks[index].reorders {
            tracks[index].counted = max(tracks[index].counted, ends[index] ?? 0)
            tracks[index].endPositions.removeAll { $0.next <= time }
        }
        return true
    }

    /// Returns the size of the packets not counted yet that belong to an output ending at `time`; `marks` marks them as
    /// counted.
    private func count(
        _ waiting: inout UniqueDeque<Waiting>, _ ends: [Int?], at time: Int64, marks: Bool
    ) -> Int64 {
        var bytes: Int64 = 0
        for position in waiting.indices where !waiting[position].isCounted {
            let index = waiting[position].track
            let start = waiting[position].start
            guard ends[index].map({ waiting[position].number < $0 }) ?? (start < time) else { continue }
            bytes += waiting[position].cost
            if marks {
                waiting[position].isCounted = true
                tracks[index].latestCounted = max(tracks[index].latestCounted, start)
            }
        }
        return bytes
    }

    // MARK: Writing

    /// Writes counted packets, except for those that extend to the last time that fits: their durations change if the
    /// output ends at that time.
    private func release(into write: (consuming Packet, Int) throws(OutputFailure) -> Void)
        throws(OutputFailure)
    {
        // Throws if no end is possible, because the first frame is presented too late.
        guard waitingBytes < 8 * Self.maxWaiting.bytes else {
            throw OutputFailure(
                AVError(
                    code: -ENOBUFS, operation: "limiting the size",
                    detail: "no position at which it can end"))
        }
        guard let fitting else { return }
        while !waiting.isEmpty, waiting[0].isCounted {
            let track = tracks[waiting[0].track]
            let isOver =
                track.reorders ? waiting[0].start < track.latestCounted : waiting[0].end <= fitting
            let exceedsQueue =
                waiting.count > Self.maxWaiting.packets || waitingBytes > Self.maxWaiting.bytes
            guard isOver || exceedsQueue, let next = waiting.popFirst() else { break }
            waitingBytes -= next.packet.size
            try write(next.packet, next.track)
        }
        for queue in cues {
            while !queue.waiting.isEmpty, queue.waiting[0].isCounted,
                queue.waiting[0].end <= fitting || queue.waiting.count > Self.maxCues
            {
                if let next = queue.waiting.popFirst() { try write(next.packet, next.track) }
            }
        }
    }

    private func stop(into write: (consuming Packet, Int) throws(OutputFailure) -> Void)
        throws(OutputFailure) -> MediaTime
    {
        var rest = UniqueDeque<Waiting>()
        swap(&rest, &waiting)
        try writeCounted(&rest, into: write)
        for queue in cues { try writeCounted(&queue.waiting, into: write) }
        return fitting.map { MediaTime(ticks: $0, timeBase: Self.unit) } ?? .zero
    }

    private func writeCounted(
        _ waiting: inout UniqueDeque<Waiting>,
        into write: (consuming Packet, Int) throws(OutputFailure) -> Void
    ) throws(OutputFailure) {
        while let next = waiting.popFirst() {
            guard let fitting, next.isCounted else { continue }
            let index = next.track
            let track = tracks[index]
            let (start, end) = (next.start, next.end)
            let packet = next.packet
            let remaining = Self.unit.rescale(fitting - start, to: track.timeBase)
            if track.reorders {
                // The frame presented at the end is extended or shortened to the end.
                if canShorten, start == track.latestCounted { packet.duration = max(1, remaining) }
            } else if end > fitting {
                guard canShorten || track.isText else { continue }
                packet.duration = max(1, remaining)
            }
            try write(packet, index)
        }
    }
}
