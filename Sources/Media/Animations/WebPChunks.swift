/// Parser and writer of the chunks of a WebP file, a RIFF container.
enum WebPChunks {
    /// A frame of an animation (`ANMF` chunk).
    struct AnimationFrame {
        /// Duration in milliseconds.
        var length: Int
        /// Size of the covered part of the canvas, in pixels.
        var width: Int
        var height: Int
        /// Byte offset of the duration in the file.
        fileprivate var durationPosition: Int
        /// Byte range of the image's chunks (`ALPH`, `VP8 `, `VP8L`) in the file.
        var data: Range<Int>
    }

    private static func little(_ bytes: [UInt8], _ position: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
    }

    /// Returns the canvas size and the frames; nil if the file is truncated or isn't a WebP. `frames` is empty for a
    /// WebP without animation, which libwebp writes for a single image.
    static func animation(in bytes: [UInt8]) -> (width: Int, height: Int, frames: [AnimationFrame])? {
        guard bytes.count >= 12, bytes[0..<4].elementsEqual("RIFF".utf8),
            bytes[8..<12].elementsEqual("WEBP".utf8),
            little(bytes, 4, 4) + 8 <= bytes.count
        else { return nil }
        let end = little(bytes, 4, 4) + 8
        var (position, canvas, frames) = (12, (width: 0, height: 0), [AnimationFrame]())
        while position + 8 <= end {
            let size = little(bytes, position + 4, 4)
            let body = position + 8
            guard size >= 0, body + size <= end else { return nil }
            let name = bytes[position..<position + 4]
            if name.elementsEqual("VP8X".utf8), size >= 10 {
                canvas = (little(bytes, body + 4, 3) + 1, little(bytes, body + 7, 3) + 1)
            } else if name.elementsEqual("ANMF".utf8) {
                guard size >= 16 else { return nil }
                frames.append(
                    AnimationFrame(
                        length: little(bytes, body + 12, 3), width: little(bytes, body + 6, 3) + 1,
                        height: little(bytes, body + 9, 3) + 1, durationPosition: body + 12,
                        data: body + 16..<body + size))
            }
            position = body + size + size % 2
        }
        return (canvas.width, canvas.height, frames)
    }

    /// Sets the duration of the last frame so that it ends at `end`, in milliseconds; a WebP without animation stays
    /// unchanged. Returns false if the bytes aren't a WebP.
    static func setEnd(to end: Int, in bytes: inout [UInt8]) -> Bool {
        guard let animation = animation(in: bytes) else { return false }
        guard let last = animation.frames.last else { return true }
        let start = animation.frames.dropLast().reduce(0) { $0 + $1.length }
        let length = min(0xff_ffff, max(1, end - start))
        for index in 0..<3 { bytes[last.durationPosition + index] = UInt8(length >> (8 * index) & 0xff) }
        return true
    }

    /// Returns a WebP file that contains only this frame.
    static func file(of frame: AnimationFrame, in bytes: [UInt8]) -> [UInt8] {
        var chunks = Array(bytes[frame.data])
        // A lossy frame with alpha requires an extended header (`VP8X`).
        if chunks.starts(with: "ALPH".utf8) {
            var header = Array("VP8X".utf8) + [10, 0, 0, 0, 0x10, 0, 0, 0]
            for side in [frame.width - 1, frame.height - 1] {
                header += (0..<3).map { UInt8(side >> (8 * $0) & 0xff) }
            }
            chunks = header + chunks
        }
        let size = chunks.count + 4
        return Array("RIFF".utf8) + (0..<4).map { UInt8(size >> (8 * $0) & 0xff) } + Array("WEBP".utf8)
            + chunks
    }
}
