internal import CFFmpeg

/// Which field of an interlaced frame is the earlier one (`AVFieldOrder`).
///
/// libav names pairs by what is stored and what is shown, but containers and ffmpeg write `tb` and `bt` of frames that
/// hold both fields line by line: the first letter is what comes first in time.
public enum FieldOrder: String, Hashable, Codable, Sendable {
    /// The one with the uppermost line.
    case topFirst = "top"
    /// The other one.
    case bottomFirst = "bottom"

    /// nil for whole frames, and where nobody says.
    init?(_ order: AVFieldOrder) {
        switch order {
        case AV_FIELD_TT, AV_FIELD_TB: self = .topFirst
        case AV_FIELD_BB, AV_FIELD_BT: self = .bottomFirst
        default: return nil
        }
    }

    /// As it is written of frames that hold both fields line by line.
    var av: AVFieldOrder { self == .topFirst ? AV_FIELD_TB : AV_FIELD_BT }
}
