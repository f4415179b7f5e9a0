import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Layers are positioned to the pixel. Their colors don't bleed into the frame if the output has no chroma subsampling.
@Suite struct LayerPlacementTests: Composing {
    /// Returns the planes of the first frame.
    private func planes(_ path: String, as format: String) throws -> [UInt8] {
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-i", path, "-frames:v", "1", "-pix_fmt", format, "-f", "rawvideo", "-"])
        return [UInt8](result.output)
    }

    private func renderedPlanes(
        at place: String, pixelFormat: String, in scratch: Scratch, frames: String = "gray"
    ) throws -> [UInt8] {
        try ffmpeg(
            "-f", "lavfi", "-i", "color=\(frames):s=32x32:d=0.2:r=25", "-c:v", "ffv1", "-pix_fmt", "yuv420p",
            scratch.file("base.mkv"))
        try ffmpeg(
            "-f", "lavfi", "-i", "color=red:s=8x8,format=rgba", "-frames:v", "1", scratch.file("l.png"))
        try scratch.write(
            job(
                "{ sequence: [ ./base.mkv ], layers: [ { asset: ./l.png, place: { \(place) } } ] }",
                tracks: "[ { video: first, encode: { codec: ffv1, pixel_format: \(pixelFormat) } } ]"),
            to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        return try planes(scratch.file("o.mkv"), as: pixelFormat)
    }

    @Test(arguments: [(4, 6), (5, 6), (4, 7), (5, 7), (-3, 1)])
    func layersArePlacedToThePixel(_ left: Int, _ top: Int) throws {
        let bytes = try renderedPlanes(
            at: "left: \(left), top: \(top)", pixelFormat: "yuv420p", in: try Scratch())
        try #require(bytes.count == 32 * 32 * 3 / 2)
        let luma = Array(bytes.prefix(32 * 32))
        let base = luma[31 * 32 + 31]
        for y in 0..<32 {
            for x in 0..<32 {
                let isInside = (left..<(left + 8)).contains(x) && (top..<(top + 8)).contains(y)
                #expect((luma[y * 32 + x] != base) == isInside, "\(x),\(y)")
            }
        }
        // Only chroma samples that the layer overlaps differ from the frame's.
        let chroma = Array(bytes[(32 * 32 + 16 * 16)...])
        for y in 0..<16 {
            for x in 0..<16 {
                let touched = x * 2 + 1 >= left && x * 2 < left + 8 && y * 2 + 1 >= top && y * 2 < top + 8
                #expect((abs(Int(chroma[y * 16 + x]) - 128) > 8) == touched, "\(x),\(y)")
            }
        }
    }

    /// In 4:4:4, chroma is exact inside and outside the layer.
    @Test(arguments: [(4, 6), (5, 7)]) func chromaDoesntBleedIn444(_ left: Int, _ top: Int) throws {
        let bytes = try renderedPlanes(
            at: "left: \(left), top: \(top)", pixelFormat: "yuv444p", in: try Scratch())
        try #require(bytes.count == 32 * 32 * 3)
        let chroma = Array(bytes[(2 * 32 * 32)...])
        let inside = Int(chroma[(top + 4) * 32 + left + 4])
        #expect(inside > 200)
        for y in 0..<32 {
            for x in 0..<32 {
                let isInside = (left..<(left + 8)).contains(x) && (top..<(top + 8)).contains(y)
                #expect(abs(Int(chroma[y * 32 + x]) - (isInside ? inside : 128)) <= 2, "\(x),\(y)")
            }
        }
    }
}
