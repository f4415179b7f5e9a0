internal import DequeModule
internal import Glibc
internal import LibAV

/// Lets packets through as long as the output stays within a number of bytes, and ends all tracks together where it would
/// not (`AVAssetExportSession.fileLengthLimit`, which may be exceeded; this is not).
///
/// The output can end where every picture so far is shown before every later one. Packets wait until the next such place
/// is known, and go on when everything up to it fits. They come in the order of their decoding times, over all tracks,
/// and no packet is shown before it is decoded: so a place is known once a later packet's decoding time has reached the
/// latest picture before it. Confined to the writer's queue.
final class SizeGate {
    /// Divides the ticks of every usual sample rate and frame rate.
    static let unit = Rational(1, 705_600_000)

    private struct Waiting: ~Copyable {
        let packet: Packet
        let track: Int
        /// Position among the track's packets.
        let number: Int
        let cost: Int64
        let start: Int64
        let end: Int64
        var isCounted = false
    }

    /// A place where the track could end: before that packet, at that time.
    private struct Place {
        var number: Int
        /// When the latest of the packets before it is shown.
        var latest: Int64
        /// When the earliest of the others is shown.
        var time: Int64
    }

    /// Cues wait beside the others, since they may last long.
    private final class Cues {
        var waiting = UniqueDeque<Waiting>()
    }

    private struct Track {
        let timeBase: Rational
        /// Packets are shown in another order than they are decoded in.
        let reorders: Bool
        let isText: Bool
        let cues: Cues?
        var count = 0
        /// When the latest picture so far is shown, and until when.
        var latest = Int64.min
        var latestEnd = Int64.min
        /// Places that a packet to come may still undo.
        var open: [Place] = []
        /// Places that stand, in order; the last of those that fit comes first.
        var places: [Place] = []
    }

    private let limit: Int64
    /// What doesn't end at a place is shortened there, as the container can say it; otherwise it is left out.
    private let canShorten: Bool
    private var model: OutputSizeModel
    private var tracks: [Track]
    private let primary: Int
    /// Cues that wait at most; more are written as they are.
    private static let mostCues = 1000
    /// Packets that wait at most, where a picture lasts and lasts.
    private static let mostWaiting = 20_000
    private var waiting = UniqueDeque<Waiting>()
    private var bytes: Int64
    /// Up to where everything fits.
    private var fitting: Int64?

    /// `bytes` is what the output has without any packet. The tracks are those of the writer, with the units of their
    /// packets.
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

    /// Takes the next packet of a track. Nil while all goes on; otherwise where the output ends: what fits has been
    /// written then, and nothing more is taken.
    func take(
        _ packet: consuming Packet, track index: Int,
        into write: (consuming Packet, Int) throws(AVError) -> Void
    ) throws(AVError) -> MediaTime? {
        let unit = tracks[index].timeBase
        let start = unit.rescale(packet.pts, to: Self.unit)
        let end = start &+ unit.rescale(max(0, packet.duration), to: Self.unit)
        let key = unit.rescale(packet.dts, to: Self.unit)
        let cost = model.cost(of: packet, track: index, at: key / Int64(Self.unit.den))
        note(start: start, end: end, of: index)
        let next = Waiting(
            packet: packet, track: index, number: tracks[index].count - 1, cost: cost, start: start, end: end)
        if let cues = tracks[index].cues {
            cues.waiting.append(next)
        } else {
            waiting.append(next)
        }
        settle(upTo: key)
        // The pictures have ended, or pause.
        if index != primary, tracks[primary].reorders, tracks[index].cues == nil, start == key,
            tracks[primary].count > 0, tracks[primary].latestEnd <= start
        {
            tracks[primary].open.removeAll()
            tracks[primary].places.append(
                Place(number: tracks[primary].count, latest: tracks[primary].latest, time: start))
        }
        guard waiting.count < Self.mostWaiting else {
            throw AVError(
                code: -ENOBUFS, operation: "stopping at a size",
                detail: "a picture lasts longer than what is beside it can be held back")
        }
        while !tracks[primary].places.isEmpty {
            guard fits(upTo: tracks[primary].places.removeFirst()) else { return try stop(into: write) }
        }
        try release(into: write)
        return nil
    }

    /// No more packets come. As `take`; nil where everything fitted.
    func finish(into write: (consuming Packet, Int) throws(AVError) -> Void) throws(AVError)
        -> MediaTime?
    {
        settle(upTo: Int64.max)
        if bytes + Self.cost(of: waiting) + cues.reduce(0, { $0 + Self.cost(of: $1.waiting) }) <= limit {
            while let next = waiting.popFirst() { try write(next.packet, next.track) }
            for cues in cues {
                while let next = cues.waiting.popFirst() { try write(next.packet, next.track) }
            }
            return nil
        }
        while !tracks[primary].places.isEmpty, fits(upTo: tracks[primary].places.removeFirst()) {}
        return try stop(into: write)
    }

    private var cues: [Cues] { tracks.compactMap(\.cues) }

    private static func cost(of waiting: borrowing UniqueDeque<Waiting>) -> Int64 {
        var cost: Int64 = 0
        for position in waiting.indices where !waiting[position].isCounted { cost += waiting[position].cost }
        return cost
    }

    // MARK: Places

    private func note(start: Int64, end: Int64, of index: Int) {
        let number = tracks[index].count
        tracks[index].count += 1
        guard tracks[index].reorders else {
            if index == primary, number > 0 {
                tracks[index].places.append(Place(number: number, latest: start, time: start))
            }
            return
        }
        // What is shown before the latest of the earlier ones undoes every place between them.
        while let last = tracks[index].open.last, last.latest >= start { tracks[index].open.removeLast() }
        for position in tracks[index].open.indices {
            tracks[index].open[position].time = min(tracks[index].open[position].time, start)
        }
        if number > 0, start > tracks[index].latest {
            tracks[index].open.append(Place(number: number, latest: tracks[index].latest, time: start))
        }
        tracks[index].latest = max(tracks[index].latest, start)
        tracks[index].latestEnd = max(tracks[index].latestEnd, end)
    }

    /// Everything that is shown before that time has come: nothing undoes places before it any more.
    private func settle(upTo key: Int64) {
        for index in tracks.indices {
            while let first = tracks[index].open.first, first.time <= key {
                tracks[index].places.append(first)
                tracks[index].open.removeFirst()
            }
        }
    }

    /// Counts what comes before a place, where it fits.
    private func fits(upTo place: Place) -> Bool {
        let ends = ends(at: place.time, primaryEnd: place.number)
        let lanes = cues
        var more = Self.count(&waiting, ends, at: place.time, marks: false)
        for lane in lanes { more += Self.count(&lane.waiting, ends, at: place.time, marks: false) }
        guard bytes + more <= limit else { return false }
        _ = Self.count(&waiting, ends, at: place.time, marks: true)
        for lane in lanes { _ = Self.count(&lane.waiting, ends, at: place.time, marks: true) }
        bytes += more
        fitting = place.time
        for index in tracks.indices where index != primary {
            let past = tracks[index].places.prefix { $0.time <= place.time }.count
            tracks[index].places.removeFirst(max(0, past - 1))
        }
        return true
    }

    /// The first packet of each track that doesn't belong to what ends at a time; nil where that goes by time alone.
    private func ends(at time: Int64, primaryEnd: Int) -> [Int?] {
        tracks.indices.map { index in
            if index == primary { return primaryEnd }
            guard tracks[index].reorders else { return nil }
            if tracks[index].latestEnd <= time { return tracks[index].count }
            return tracks[index].places.last { $0.time <= time }?.number ?? 0
        }
    }

    /// Bytes of what newly belongs to an output that ends at a time.
    private static func count(
        _ waiting: inout UniqueDeque<Waiting>, _ ends: [Int?], at time: Int64, marks: Bool
    ) -> Int64 {
        var bytes: Int64 = 0
        for position in waiting.indices where !waiting[position].isCounted {
            let belongs =
                if let end = ends[waiting[position].track] {
                    waiting[position].number < end
                } else {
                    waiting[position].start < time
                }
            guard belongs else { continue }
            bytes += waiting[position].cost
            if marks { waiting[position].isCounted = true }
        }
        return bytes
    }

    // MARK: Writing

    /// Writes what is counted, up to what reaches over the last place: should the output end there, it is shortened.
    private func release(into write: (consuming Packet, Int) throws(AVError) -> Void)
        throws(AVError)
    {
        guard let fitting else { return }
        while !waiting.isEmpty, waiting[0].isCounted,
            tracks[waiting[0].track].reorders || waiting[0].end <= fitting
        {
            if let next = waiting.popFirst() { try write(next.packet, next.track) }
        }
        for lane in cues {
            while !lane.waiting.isEmpty, lane.waiting[0].isCounted,
                lane.waiting[0].end <= fitting || lane.waiting.count > Self.mostCues
            {
                if let next = lane.waiting.popFirst() { try write(next.packet, next.track) }
            }
        }
    }

    private func stop(into write: (consuming Packet, Int) throws(AVError) -> Void)
        throws(AVError) -> MediaTime
    {
        var rest = UniqueDeque<Waiting>()
        swap(&rest, &waiting)
        try writeCounted(&rest, into: write)
        for lane in cues { try writeCounted(&lane.waiting, into: write) }
        return fitting.map { MediaTime(ticks: $0, timeBase: Self.unit) } ?? .zero
    }

    private func writeCounted(
        _ waiting: inout UniqueDeque<Waiting>, into write: (consuming Packet, Int) throws(AVError) -> Void
    ) throws(AVError) {
        while let next = waiting.popFirst() {
            guard let fitting, next.isCounted else { continue }
            if !tracks[next.track].reorders, next.end > fitting {
                guard canShorten || tracks[next.track].isText else { continue }
                let packet = next.packet
                packet.duration = Self.unit.rescale(fitting - next.start, to: tracks[next.track].timeBase)
                try write(packet, next.track)
            } else {
                try write(next.packet, next.track)
            }
        }
    }
}
