internal import DequeModule
internal import Dispatch
internal import LibAV

/// A demuxer with several consumers and their queued packets, on a private dispatch queue.
///
/// Each consumer receives every packet of its stream; consumers of the same stream receive references to the same data.
/// A request reads from the demuxer until a packet of the stream arrives; packets of other streams are queued, up to a
/// limit in bytes. If a source's tracks, or two consumers of a track, are so far apart that the limit is reached, the
/// slow consumer is *moved*: it must open a separate demuxer. So no output blocks another, and memory use is bounded.
///
/// Unchecked `Sendable`: all mutable state is used on `queue` only.
final class SharedDemuxer: @unchecked Sendable {
    /// Result of a request for packets.
    enum ReadResult {
        /// Success: at least one packet was returned.
        case packets
        case ended
        /// The consumer was moved: it must open a separate demuxer and skip this many packets.
        case moved(after: Int)
    }

    /// A consumer of a stream, with its queued packets. A class, because arrays can't hold noncopyable values.
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

        func discardPackets() {
            packets = UniqueDeque()
            (bytes, delivered, isMoved) = (0, 0, false)
        }
    }

    /// Only called synchronously, which needs no free thread of Dispatch (`SerialQueue`).
    private let queue = DispatchQueue(label: "tandem.demux")
    private let demuxer: Demuxer
    private let damage: [DamageTally]
    private let consumers: [Consumer]
    private var isAtEnd = false
    private var failure: AVError?
    /// Number of packets read of each stream since the beginning or the last seek. Packets carry these numbers, so
    /// that a consumer detects a lost packet.
    private var counts: [Int: Int] = [:]

    /// Maximum size of a consumer's queued packets before it is moved.
    static let byteLimit = 16 << 20
    /// Minimum number of queued packets before the byte limit applies: a few very large frames don't indicate bad
    /// interleaving.
    static let packetFloor = 16
    /// Maximum number of packets and bytes that a call of `next` returns: switching queues costs more than reading a
    /// packet.
    private static let (batchPackets, batchBytes) = (32, 256 << 10)

    /// Opens a demuxer. `streams` contains the stream of each consumer; a stream with two consumers is listed twice, so
    /// that the later one doesn't miss packets. `damage` contains the tally of each track that a container error may
    /// affect. `container` is the name of the demuxer found by an earlier probe; nil probes the file. `origins` is the
    /// value of `Demuxer.origins`. The codec parameters are known from an earlier probe, so that `discovery` only
    /// determines which properties of packets are complete.
    init(
        path: String, streams: [Int], environment: SourceEnvironment, interrupt: InterruptFlag,
        damage: [DamageTally],
        container: String? = nil, origins: [Int: Int64] = [:], discovery: StreamDiscovery = .known
    ) throws(InputError) {
        self.damage = damage
        var demuxer = try Demuxer.open(
            path: path, environment: environment, interrupt: interrupt,
            discovery: discovery, container: container)
        demuxer.select(Set(streams))
        demuxer.origins = origins
        self.demuxer = demuxer
        consumers = streams.map(Consumer.init)
    }

    /// Claims a free consumer of a stream and returns its index; nil if there is none.
    func claim(_ stream: Int) -> Int? {
        queue.sync {
            let free = consumers.firstIndex { $0.stream == stream && !$0.isClaimed }
            if let free { consumers[free].isClaimed = true }
            return free
        }
    }

    /// Appends a consumer's next packets to `batch`: at least one, unless the stream ended or the consumer was moved.
    /// Must not be called on `queue`.
    func next(_ consumer: Int, into batch: inout UniqueDeque<Packet>) throws(AVError) -> ReadResult {
        var result: ReadResult = .ended
        var thrownError: AVError?
        queue.sync {
            var bytes = 0
            do throws(AVError) {
                while batch.count < Self.batchPackets, bytes < Self.batchBytes {
                    var packet: Packet?
                    let found = try read(consumers[consumer], into: &packet)
                    guard let packet else {
                        if batch.isEmpty { result = found }
                        return
                    }
                    bytes += packet.size
                    batch.append(packet)
                    result = .packets
                }
            } catch {
                // Packets read before the error are returned first; the error is thrown by the next call.
                if batch.isEmpty { thrownError = error }
            }
        }
        if let thrownError { throw thrownError }
        return result
    }

    /// Seeks to a keyframe of a stream at or before a time; all queued packets are dropped.
    func seek(stream: Int, before timestamp: Int64) throws(AVError) {
        var thrownError: AVError?
        queue.sync {
            do throws(AVError) {
                try demuxer.seek(stream: stream, before: timestamp)
                isAtEnd = false
                counts = [:]
                for consumer in consumers { consumer.discardPackets() }
            } catch {
                thrownError = error
            }
        }
        if let thrownError { throw thrownError }
    }

    /// See `Demuxer.indexedKey`.
    func indexedKey(of stream: Int, notAfter timestamp: Int64) -> Int64? {
        queue.sync { demuxer.indexedKey(of: stream, notAfter: timestamp) }
    }

    /// Returns whether the damage policies of all tracks tolerate a container error. The time of `packet`, which
    /// follows the damage, is used for the report.
    private func isTolerated(_ error: AVError, before packet: borrowing Packet) -> Bool {
        var time: MediaTime?
        if error.isPartial, packet.dts != noTimestamp || packet.pts != noTimestamp,
            let stream = try? demuxer.stream(packet.streamIndex),
            TimeBounds.contain(packet, timeBase: stream.timeBase)
        {
            time = MediaTime(
                ticks: packet.pts != noTimestamp ? packet.pts : packet.dts, timeBase: stream.timeBase)
        }
        return damage.allSatisfy { (try? $0.handle(error, of: .part(.container), at: time)) != nil }
    }

    private func read(_ consumer: Consumer, into result: inout Packet?) throws(AVError) -> ReadResult {
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
                // After an unrecoverable error, the container ends. After a partial one, `packet` is the first packet
                // behind it.
                if !error.isPartial {
                    isAtEnd = true
                    break
                }
            } catch {
                // Every consumer gets the error after its queued packets.
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
