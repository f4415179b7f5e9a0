internal import LibAV

/// Boxes of a visual sample entry that libavformat 5.1 doesn't write: the clean aperture (`clap`).
///
/// The muxer writes an ICC profile of the required size in their place, as the contents of a `colr` box. Once the header
/// is written, the color (`nclx` or `nclc`) and the clean aperture replace that box. No other bytes move.
struct SampleEntryBoxes {
    /// Bytes of the boxes.
    let bytes: [UInt8]

    /// Size of a box's header and of the type of a color.
    private static let headSize = 12

    /// Creates the boxes. `storesRange`: whether the container stores the range of video levels.
    init(_ aperture: CleanAperture, color: ColorDescription, storesRange: Bool) {
        func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
            withUnsafeBytes(of: value.bigEndian) { Array($0) }
        }
        func box(_ name: String, _ contents: [UInt8]) -> [UInt8] {
            big(UInt32(8 + contents.count)) + Array(name.utf8) + contents
        }
        var boxes: [UInt8] = []
        if let codes = color.codes {
            let numbers = [codes.primaries, codes.transfer, codes.matrix].flatMap { big($0) }
            boxes += box(
                "colr",
                Array((storesRange ? "nclx" : "nclc").utf8) + numbers
                    + (storesRange ? [color.range == .full ? 0x80 : 0] : []))
        }
        let values = [
            aperture.width, aperture.height, aperture.horizontalOffset, aperture.verticalOffset,
        ]
        bytes = boxes + box("clap", values.flatMap { big($0.num) + big($0.den) })
    }

    /// The profile in whose place the boxes are written.
    var placeholder: StreamSideData {
        .colorProfile([UInt8](repeating: 0, count: bytes.count - Self.headSize))
    }
}
