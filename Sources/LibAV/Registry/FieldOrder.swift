internal import CFFmpeg

/// The temporal order of the fields of an interlaced frame (`AVFieldOrder`).
///
/// FFmpeg documents the names as storage order and display order, but containers and `ffmpeg` use `tb` and `bt`
/// for frames with interleaved fields: the first letter is the temporally first field.
public enum FieldOrder: String, Hashable, Codable, Sendable {
    /// The top field is presented first.
    case topFirst = "top"
    /// The bottom field is presented first.
    case bottomFirst = "bottom"

    /// Converts FFmpeg's value; nil for progressive frames and if the order is unknown.
    init?(_ order: AVFieldOrder) {
        switch order {
        case AV_FIELD_TT, AV_FIELD_TB: self = .topFirst
        case AV_FIELD_BB, AV_FIELD_BT: self = .bottomFirst
        default: return nil
        }
    }

    /// FFmpeg's value for frames with interleaved fields.
    var av: AVFieldOrder { self == .topFirst ? AV_FIELD_TB : AV_FIELD_BT }
}
