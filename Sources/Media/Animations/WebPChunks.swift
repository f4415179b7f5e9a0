/// The chunks of a WebP file: its container is RIFF.
enum WebPChunks {
    /// A still of an animation.
    struct Still {
        /// How long it is shown, in milliseconds.
        var length: Int
        /// The part of the canvas that it covers.
        var width: Int
        var height: Int
        /// The place of its length in the file.
        fileprivate var lengthPlace: Int
        /// Its own chunks (`ALPH`, `VP8 `, `VP8L`).
        var data: Range<Int>
    }

    private static func little(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    /// The size of the canvas and the stills; nil of what is no whole animation. What has one still may be a plain file, whose length
    /// nobody says.
    static func animation(in bytes: [UInt8]) -> (width: Int, height: Int, stills: [Still])? {
        guard bytes.count >= 12, bytes[0..<4].elementsEqual("RIFF".utf8),
            bytes[8..<12].elementsEqual("WEBP".utf8),
            little(bytes, 4, 4) + 8 <= bytes.count
        else { return nil }
        let end = little(bytes, 4, 4) + 8
        var (place, canvas, stills) = (12, (width: 0, height: 0), [Still]())
        while place + 8 <= end {
            let size = little(bytes, place + 4, 4)
            let body = place + 8
            guard size >= 0, body + size <= end else { return nil }
            let name = bytes[place..<place + 4]
            if name.elementsEqual("VP8X".utf8), size >= 10 {
                canvas = (little(bytes, body + 4, 3) + 1, little(bytes, body + 7, 3) + 1)
            } else if name.elementsEqual("ANMF".utf8) {
                guard size >= 16 else { return nil }
                stills.append(
                    Still(
                        length: little(bytes, body + 12, 3), width: little(bytes, body + 6, 3) + 1,
                        height: little(bytes, body + 9, 3) + 1, lengthPlace: body + 12,
                        data: body + 16..<body + size))
            }
            place = body + size + size % 2
        }
        return (canvas.width, canvas.height, stills)
    }

    /// Sets when the last still ends, in milliseconds; false where the bytes are no WebP. A plain file is shown for ever.
    static func setEnd(to end: Int, in bytes: inout [UInt8]) -> Bool {
        guard let animation = animation(in: bytes) else { return false }
        guard let last = animation.stills.last else { return true }
        let start = animation.stills.dropLast().reduce(0) { $0 + $1.length }
        let length = min(0xff_ffff, max(1, end - start))
        for index in 0..<3 { bytes[last.lengthPlace + index] = UInt8(length >> (8 * index) & 0xff) }
        return true
    }

    /// A still of an animation as a file of its own.
    static func file(of still: Still, in bytes: [UInt8]) -> [UInt8] {
        var chunks = Array(bytes[still.data])
        // Alpha beside lossy frames is told in a header of its own.
        if chunks.starts(with: "ALPH".utf8) {
            var header = Array("VP8X".utf8) + [10, 0, 0, 0, 0x10, 0, 0, 0]
            for side in [still.width - 1, still.height - 1] {
                header += (0..<3).map { UInt8(side >> (8 * $0) & 0xff) }
            }
            chunks = header + chunks
        }
        let size = chunks.count + 4
        return Array("RIFF".utf8) + (0..<4).map { UInt8(size >> (8 * $0) & 0xff) } + Array("WEBP".utf8)
            + chunks
    }
}
