internal import DequeModule
internal import Dispatch
internal import LibAV

/// One demuxer and the packets that wait behind it, on a queue of its own.
///
/// Each of its consumers gets every packet of its stream, those of one stream each a reference to the same data. One that
/// wants a packet makes the demuxer read until one comes; what it meets on the way waits for the others, bounded in
/// bytes. Where a source's tracks lie so far apart, or two consumers of one track so far, that the bound is reached,
/// the waiting one is *moved*: it gets a lane of its own, which reads the file from its own place. So nothing ever
/// waits for another output, and memory stays bounded.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only.
final class DemuxLane: @unchecked Sendable {
    /// What a lane answers.
    enum Answer {
        /// Some packets.
        case packets
        case ended
        /// Open a lane of your own and skip so many packets.
        case moved(after: Int)
    }

    /// Who reads a stream, and the packets that wait for it; a class because arrays hold no noncopyable values.
    private final class Consumer {
        let stream: Int
        var isClaimed = false
        var packets = UniqueDeque<Packet>()
        var bytes = 0
        var delivered = 0
        var isMoved = false
        init(_ stream: Int) { self.stream = stream }

        func take(_ packet: consuming Packet) {
            delivered += 1
            bytes += packet.size
            packets.append(packet)
        }

        func forget() {
            packets = UniqueDeque()
            (bytes, delivered, isMoved) = (0, 0, false)
        }
    }

    let queue = DispatchQueue(label: "tandem.demux")
    private let demuxer: Demuxer
    private let damage: [DamageTally]
    private let consumers: [Consumer]
    private var isAtEnd = false
    private var failure: AVError?
    /// Packets read of each stream since the beginning or the last seek: each carries its number, by which a consumer sees
    /// that it gets all of them.
    private var counts: [Int: Int] = [:]

    /// Bytes that may wait for one track before it is moved.
    static let byteLimit = 16 << 20
    /// Below this many packets bytes don't count: a few huge frames are no sign of bad interleaving.
    static let packetFloor = 16
    /// So many packets and bytes are handed over at a time: a change of queue costs more than a packet.
    private static let (batchPackets, batchBytes) = (32, 256 << 10)

    /// `streams` names the stream of each consumer: one that two read stands there twice, since who comes later would lack what was
    /// read before. `container` is what the file was found to be before. `origins` are `Demuxer.origins`. `damage` decides about what the container's reader can't understand, for each track that may miss something.
    init(
        path: String, streams: [Int], environment: SourceEnvironment, interrupt: InterruptFlag,
        damage: [DamageTally],
        container: String? = nil, origins: [Int: Int64] = [:]
    ) throws(InputError) {
        self.damage = damage
        var demuxer = try Demuxer.open(
            path: path, environment: environment, interrupt: interrupt, discovery: .known,
            container: container)
        demuxer.select(Set(streams))
        demuxer.origins = origins
        self.demuxer = demuxer
        consumers = streams.map(Consumer.init)
    }

    /// A place among the consumers of a stream, which nobody has yet; nil where all are taken.
    func claim(_ stream: Int) -> Int? {
        queue.sync {
            let free = consumers.firstIndex { $0.stream == stream && !$0.isClaimed }
            if let free { consumers[free].isClaimed = true }
            return free
        }
    }

    /// The next packets of a consumer, at least one where there is any. Call on any queue but this one.
    func next(_ consumer: Int, into batch: inout UniqueDeque<Packet>) throws(AVError) -> Answer {
        var answer: Answer = .ended
        var thrown: AVError?
        queue.sync {
            var bytes = 0
            do throws(AVError) {
                while batch.count < Self.batchPackets, bytes < Self.batchBytes {
                    var packet: Packet?
                    let found = try read(consumers[consumer], into: &packet)
                    guard let packet else {
                        if batch.isEmpty { answer = found }
                        return
                    }
                    bytes += packet.size
                    batch.append(packet)
                    answer = .packets
                }
            } catch {
                // What came before is handed over first; the failure stays.
                if batch.isEmpty { thrown = error }
            }
        }
        if let thrown { throw thrown }
        return answer
    }

    /// Goes to a key frame of a stream before a time; everything that waits is dropped.
    func seek(stream: Int, before timestamp: Int64) throws(AVError) {
        var thrown: AVError?
        queue.sync {
            do throws(AVError) {
                try demuxer.seek(stream: stream, before: timestamp)
                isAtEnd = false
                counts = [:]
                for consumer in consumers { consumer.forget() }
            } catch {
                thrown = error
            }
        }
        if let thrown { throw thrown }
    }

    /// See `Demuxer.indexedKey`.
    func indexedKey(of stream: Int, notAfter timestamp: Int64) -> Int64? {
        queue.sync { demuxer.indexedKey(of: stream, notAfter: timestamp) }
    }

    /// Every track may miss something; when, the packet after it tells.
    private func isTolerated(_ error: AVError, before packet: borrowing Packet) -> Bool {
        var time: MediaTime?
        if error.isPartial, packet.dts != noTimestamp || packet.pts != noTimestamp,
            let stream = try? demuxer.stream(packet.streamIndex),
            TimeBounds.holds(packet, timeBase: stream.timeBase)
        {
            time = MediaTime(
                ticks: packet.pts != noTimestamp ? packet.pts : packet.dts, timeBase: stream.timeBase)
        }
        return damage.allSatisfy { (try? $0.meet(error, of: "the container", at: time)) != nil }
    }

    private func read(_ consumer: Consumer, into result: inout Packet?) throws(AVError) -> Answer {
        if let first = consumer.packets.popFirst() {
            consumer.bytes -= first.size
            result = consume first
            return .packets
        }
        if consumer.isMoved { return .moved(after: consumer.delivered) }
        if let failure { throw failure }
        while !isAtEnd {
            let packet = try Packet()
            do throws(AVError) {
                guard try demuxer.read(into: packet) else {
                    isAtEnd = true
                    break
                }
            } catch  where isTolerated(error, before: packet) {
                // A container that can't be read on ends here; where only a part of it was left out, the packet after
                // that is there.
                if !error.isPartial {
                    isAtEnd = true
                    break
                }
            } catch {
                // Every track learns of it, each after what it still has.
                failure = error
                throw error
            }
            let index = packet.streamIndex
            counts[index, default: 0] += 1
            packet.number = counts[index, default: 0]
            for other in consumers where other !== consumer && other.stream == index && !other.isMoved {
                if other.bytes + packet.size > Self.byteLimit, other.packets.count >= Self.packetFloor {
                    move(other)
                } else {
                    other.take(try packet.reference())
                }
            }
            guard index == consumer.stream else { continue }
            consumer.delivered += 1
            result = consume packet
            return .packets
        }
        return .ended
    }

    private func move(_ consumer: Consumer) {
        consumer.isMoved = true
        demuxer.select(Set(consumers.filter { !$0.isMoved }.map(\.stream)))
    }
}
