internal import LibAV
internal import Locking

/// Source frames of a cut's re-encoded edges, kept to verify the output. Decoding them again would start at the
/// previous keyframe, half a GOP earlier on average.
package final class CutEvidence: Sendable {
    /// A frame of the source and its time in the cut's ticks, on the asset's time line.
    final class KeptFrame: Sendable {
        let time: Int64
        let frame: Frame

        init(_ frame: consuming Frame, at time: Int64) {
            self.time = time
            self.frame = frame
        }
    }

    /// The part is included, because two sources may have frames with the same time.
    private struct Key: Hashable {
        var part: Int
        var time: Int64
    }

    /// Maximum number of bytes kept; frames beyond the limit are decoded again.
    private static let maxBytes = 64 << 20

    private struct Storage: Sendable {
        var frames: [Key: KeptFrame] = [:]
        var bytes = 0
    }
    private let storage = Guarded(Storage())

    package init() {}

    /// Keeps a frame of a part if the limit allows it; its data is shared, not copied.
    func keep(_ frame: borrowing Frame, of part: Int, at time: Int64) throws(AVError) {
        let bytes = frame.byteCount
        let hasRoom = storage.withLock { kept in
            guard kept.bytes + bytes <= Self.maxBytes else { return false }
            kept.bytes += bytes
            return true
        }
        guard hasRoom else { return }
        let whole = KeptFrame(try frame.reference(), at: time)
        storage.withLock { $0.frames[Key(part: part, time: time)] = whole }
    }

    /// Returns a part's frames at these times; nil if one of them was not kept.
    func frames(of part: Int, at times: some Sequence<Int64>) -> [KeptFrame]? {
        storage.withLock { kept in
            var found: [KeptFrame] = []
            for time in times {
                guard let one = kept.frames[Key(part: part, time: time)] else { return nil }
                found.append(one)
            }
            return found
        }
    }
}
