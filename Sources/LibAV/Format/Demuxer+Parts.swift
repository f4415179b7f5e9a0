/// The second and later parts of a package, with the position of all parts. A class, because arrays can't hold noncopyable
/// values. Confined to the queue of the demuxer that owns it.
///
/// Unchecked `Sendable`: the demuxer is its only owner.
final class FurtherParts: @unchecked Sendable {
    /// The demuxer of a part.
    final class Part {
        let demuxer: Demuxer
        /// Number of streams when the part was opened. Streams that appear later are ignored, because they would move those
        /// of the following parts.
        let streamCount: Int

        init(_ demuxer: consuming Demuxer) {
            streamCount = demuxer.streamCount
            self.demuxer = demuxer
        }
    }

    /// The position of a part.
    struct Position {
        /// Time of the last packet in microseconds.
        var time = Int64.min
        /// Whether no packets follow.
        var isAtEnd = false
        /// Whether a stream of the part is read.
        var isSelected = true
    }

    /// Number of streams of the first part when it was opened.
    let firstStreamCount: Int
    private(set) var parts: [Part] = []
    /// Positions of all parts; the first one is that of the demuxer that owns this object.
    fileprivate(set) var positions = [Position()]

    init(after first: borrowing Demuxer) { firstStreamCount = first.streamCount }

    /// Number of streams of all parts.
    var streamCount: Int { parts.reduce(firstStreamCount) { $0 + $1.streamCount } }

    func append(_ demuxer: consuming Demuxer) {
        parts.append(Part(demuxer))
        positions.append(Position())
    }

    /// Selects the streams to read, by their indices among those of all parts.
    func select(_ indices: Set<Int>) {
        positions[0].isSelected = indices.contains { $0 < firstStreamCount }
        var first = firstStreamCount
        for (index, part) in parts.enumerated() {
            let count = part.streamCount
            let own = Set(indices.filter { (first..<first + count).contains($0) }.map { $0 - first })
            part.demuxer.select(own)
            positions[index + 1].isSelected = !own.isEmpty
            first += count
        }
    }

    /// Index of the part whose packet is read next: the one that is behind; nil at the end of all parts.
    var next: Int? {
        positions.indices.filter { positions[$0].isSelected && !positions[$0].isAtEnd }
            .min { positions[$0].time < positions[$1].time }
    }
}

extension Demuxer {
    /// Opens all parts of a package as one source; their streams follow each other.
    static func open(
        _ package: SegmentedPackage, at manifest: String, environment: SourceEnvironment,
        interrupt: InterruptFlag, discovery: StreamDiscovery,
        read: (_ codec: String, _ headers: [UInt8], _ opening: PacketOpening) -> VideoHeaders?
    ) throws(InputError) -> Demuxer {
        func open(_ part: SegmentedPackage.Part) throws(InputError) -> Demuxer {
            try Demuxer.open(
                path: PackageTable.location(of: part, at: manifest), environment: environment,
                interrupt: interrupt, discovery: discovery, read: read)
        }
        guard let first = package.parts.first else { throw InputError(path: manifest, reason: .noTracks) }
        var demuxer = try open(first)
        guard package.parts.count > 1 else { return demuxer }
        let further = FurtherParts(after: demuxer)
        for part in package.parts.dropFirst() { further.append(try open(part)) }
        demuxer.further = further
        let count = demuxer.streamCount
        guard count <= environment.limits.maxStreams else {
            throw InputError(path: manifest, reason: .tooManyTracks(count))
        }
        return demuxer
    }

    /// Returns the further part that has a stream, and the stream's index in it; nil for a stream of this demuxer.
    func part(of stream: Int) -> (part: FurtherParts.Part, stream: Int)? {
        guard let further, stream >= further.firstStreamCount else { return nil }
        var own = stream - further.firstStreamCount
        for part in further.parts {
            let count = part.streamCount
            if own < count { return (part, own) }
            own -= count
        }
        return nil
    }

    /// Reads the next packet of the part that is behind the others. Returns false at the end of all parts.
    func read(into packet: borrowing Packet, among further: FurtherParts) throws(AVError) -> Bool {
        while let index = further.next {
            let isRead: Bool
            var (first, count) = (0, further.firstStreamCount)
            if index == 0 {
                isRead = try readOwn(into: packet)
            } else {
                let part = further.parts[index - 1]
                isRead = try part.demuxer.readOwn(into: packet)
                first = further.parts[..<(index - 1)].reduce(count) { $0 + $1.streamCount }
                count = part.streamCount
            }
            guard isRead else {
                further.positions[index].isAtEnd = true
                continue
            }
            if packet.streamIndex >= count { continue }
            packet.streamIndex += first
            let time = packet.dts != noTimestamp ? packet.dts : packet.pts
            if time != noTimestamp {
                let unit = try stream(packet.streamIndex).timeBase
                further.positions[index].time = unit.rescale(time, to: Rational(1, 1_000_000))
            }
            if first > 0, let origin = origins[packet.streamIndex] { present(packet, from: origin) }
            return true
        }
        return false
    }

    /// Seeks in the part of a stream, and in the others to the same time.
    func seek(stream: Int, before timestamp: Int64, among further: FurtherParts) throws(AVError) {
        let unit = try self.stream(stream).timeBase
        let target = part(of: stream)
        for (index, position) in further.positions.enumerated() where position.isSelected {
            let part = index == 0 ? nil : further.parts[index - 1]
            if part === target?.part {
                let time = timestamp.adding(upToLimit: origins[stream] ?? 0)
                if let target {
                    try target.part.demuxer.seekOwn(stream: target.stream, before: time)
                } else {
                    try seekOwn(stream: stream, before: timestamp)
                }
            } else if let part {
                try part.demuxer.seekOwn(
                    stream: 0, before: unit.rescale(timestamp, to: part.demuxer.stream(0).timeBase))
            } else {
                try seekOwn(stream: 0, before: unit.rescale(timestamp, to: self.stream(0).timeBase))
            }
        }
        for index in further.positions.indices {
            (further.positions[index].time, further.positions[index].isAtEnd) = (.min, false)
        }
    }
}
