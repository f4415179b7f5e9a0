import TandemKit

/// The examples on the pages of samples, pixels and their formats.
enum SampleExamples {
    static func sample(output: AssetReaderOutput) async throws {
        // begin SampleBuffer
        while let sample = try await output.next() {
            let end = sample.presentationTime + sample.presentationDuration
            print("\(sample.presentationTime) s to \(end) s, \(sample.byteCount) bytes")
        }
        // end SampleBuffer
    }

    static func queue(output: AssetReaderOutput) async throws -> SampleBufferQueue {
        // begin SampleBufferQueue
        let last = SampleBufferQueue()
        while let frame = try await output.next() {
            last.append(frame)
            if last.count > 10 { _ = last.popFirst() }
        }
        // end SampleBufferQueue
        return last
    }

    static func pixels() throws -> PixelBuffer {
        // begin PixelBuffer
        let image = try PixelBuffer(pixelFormat: .rgb24, width: 64, height: 48)
        try image.withMutableRows(ofPlane: 0, as: UInt8.self) { row, pixels in
            for column in pixels.indices { pixels[column] = UInt8(row * 5) }
        }
        let red = try image.components(ofPlane: 0, as: UInt8.self)[0]
        // end PixelBuffer
        print(red)
        return image
    }

    static func pool() throws -> PixelBuffer {
        // begin PixelBufferPool
        let pool = try PixelBufferPool(pixelFormat: .yuv420p, width: 640, height: 360)
        let buffer = try pool.makeBuffer()
        // end PixelBufferPool
        return buffer
    }

    static func format() -> PixelFormat? {
        // begin PixelFormat
        let format = PixelFormat(named: "yuv422p10le")
        print("\(format?.bitDepth ?? 0) bits, alpha: \(format?.hasAlpha == true)")
        // end PixelFormat
        return format
    }

    static func sampleFormat() -> AudioOutputSettings {
        // begin SampleFormat
        let settings = AudioOutputSettings(sampleFormat: .planarFloat)
        // end SampleFormat
        return settings
    }

    // begin AudioSample
    static func peak<Sample: AudioSample & Comparable>(
        of block: borrowing SampleBuffer, as type: Sample.Type
    ) throws -> Sample? {
        try block.interleavedSamples(of: type).max()
    }
    // end AudioSample

    // begin PixelComponent
    static func brightest<Component: PixelComponent & Comparable>(
        of image: PixelBuffer, as type: Component.Type
    ) throws -> Component? {
        try image.components(ofPlane: 0, as: type).max()
    }
    // end PixelComponent

    static func generics() throws -> (Float?, UInt8?) {
        let tone = try SampleBuffer(
            interleaved: [0.5, -0.5] as [Float], layout: .mono, sampleRate: 48_000, at: .zero)
        return (try peak(of: tone, as: Float.self), try brightest(of: pixels(), as: UInt8.self))
    }
}
