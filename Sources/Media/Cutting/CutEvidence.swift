internal import LibAV
internal import Locking

/// The source's frames that a cut's edges were made of, kept for the look at the finished cut: to find them again is to
/// decode from the key frame before, half a group on average.
package final class CutEvidence: Sendable {
    /// A frame of the source, and when it is shown in the cut's ticks on the asset's time line.
    final class KeptFrame: Sendable {
        let time: Int64
        let frame: Frame

        init(_ frame: consuming Frame, at time: Int64) {
            self.time = time
            self.frame = frame
        }
    }

    /// Two sources may have frames at one time.
    private struct Key: Hashable {
        var part: Int
        var time: Int64
    }

    /// Bytes that frames may take; those beyond are decoded again.
    private static let room = 64 << 20

    private struct Kept: Sendable {
        var frames: [Key: KeptFrame] = [:]
        var bytes = 0
    }
    private let kept = Guarded(Kept())

    /// Without any.
    package init() {}

    /// Keeps a frame of a part of the cut where there is room; its data are shared, not copied.
    func keep(_ frame: borrowing Frame, of part: Int, at time: Int64) throws(AVError) {
        let bytes = frame.byteCount
        let hasRoom = kept.withLock { kept in
            guard kept.bytes + bytes <= Self.room else { return false }
            kept.bytes += bytes
            return true
        }
        guard hasRoom else { return }
        let whole = KeptFrame(try frame.reference(), at: time)
        kept.withLock { $0.frames[Key(part: part, time: time)] = whole }
    }

    /// A part's frames of these times; nil where one of them was not kept.
    func frames(of part: Int, at times: some Sequence<Int64>) -> [KeptFrame]? {
        kept.withLock { kept in
            var found: [KeptFrame] = []
            for time in times {
                guard let one = kept.frames[Key(part: part, time: time)] else { return nil }
                found.append(one)
            }
            return found
        }
    }
}
