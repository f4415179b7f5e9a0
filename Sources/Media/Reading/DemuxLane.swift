internal import DequeModule
internal import Dispatch
internal import LibAV

/// One demuxer and the packets that wait behind it, on a queue of its own.
///
/// An output that wants a packet makes the demuxer read until one comes; what it meets on the way waits
/// for the others, bounded in bytes. Where a source's tracks lie so far apart that the bound is reached,
/// the waiting track is *moved*: it gets a lane of its own, which reads the file from its own place. So
/// nothing ever waits for another output, and memory stays bounded.
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

    private struct Waiting: ~Copyable {
        var packets = UniqueDeque<Packet>()
        var bytes = 0
        var delivered = 0
        var isMoved = false
    }

    let queue = DispatchQueue(label: "tandem.demux")
    private let demuxer: Demuxer
    private let damage: [DamageTally]
    private var waiting: [Int: WaitingBox] = [:]
    private var selected: Set<Int>
    private var isAtEnd = false
    private var failure: AVError?

    /// A lane's queue of one stream; a class because dictionaries hold no noncopyable values.
    private final class WaitingBox {
        var value = Waiting()
    }

    /// Bytes that may wait for one track before it is moved.
    static let byteLimit = 16 << 20
    /// Below this many packets bytes don't count: a few huge pictures are no sign of bad interleaving.
    static let packetFloor = 16
    /// So many packets and bytes are handed over at a time: a change of queue costs more than a packet.
    private static let (batchPackets, batchBytes) = (32, 256 << 10)

    /// `container` is what the file was found to be before. `damage` decides about what the container's reader can't understand, for each track that may miss something.
    init(
        path: String, streams: Set<Int>, limits: InputLimits, interrupt: InterruptFlag, damage: [DamageTally],
        container: String? = nil
    ) throws(InputError) {
        self.damage = damage
        demuxer = try Demuxer.open(
            path: path, limits: limits, interrupt: interrupt, discovery: .known, container: container)
        demuxer.select(streams)
        selected = streams
        for stream in streams { waiting[stream] = WaitingBox() }
    }

    /// The next packets of a stream, at least one where there is any. Call on any queue but this one.
    func next(_ stream: Int, into batch: inout UniqueDeque<Packet>) throws(AVError) -> Answer {
        var answer: Answer = .ended
        var thrown: AVError?
        queue.sync {
            var bytes = 0
            do throws(AVError) {
                while batch.count < Self.batchPackets, bytes < Self.batchBytes {
                    var packet: Packet?
                    let found = try read(stream, into: &packet)
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
                for box in waiting.values { box.value = Waiting() }
            } catch {
                thrown = error
            }
        }
        if let thrown { throw thrown }
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

    private func read(_ stream: Int, into result: inout Packet?) throws(AVError) -> Answer {
        guard let box = waiting[stream] else { return .ended }
        if let first = box.value.packets.popFirst() {
            box.value.bytes -= first.size
            result = consume first
            return .packets
        }
        if box.value.isMoved { return .moved(after: box.value.delivered) }
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
            guard let other = waiting[index], !other.value.isMoved else { continue }
            if index == stream {
                box.value.delivered += 1
                result = consume packet
                return .packets
            }
            if other.value.bytes + packet.size > Self.byteLimit, other.value.packets.count >= Self.packetFloor
            {
                other.value.isMoved = true
                selected.remove(index)
                demuxer.select(selected)
                continue
            }
            other.value.delivered += 1
            other.value.bytes += packet.size
            other.value.packets.append(packet)
        }
        return .ended
    }
}
