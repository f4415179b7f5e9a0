internal import LibAV

/// How an image is to be rotated for display, as a camera writes it into the image itself (EXIF). libavcodec tells of it with the decoded
/// image alone, and whoever plans must know it before.
enum ImageOrientation {
    /// What stands before such words in JPEG, PNG and WebP.
    private static let marks: [[UInt8]] = ["Exif", "eXIf", "EXIF"].map { Array($0.utf8) }

    /// An image by itself that may say something, and of which its container says nothing.
    static func isAskedFor(
        _ stream: StreamInfo, in container: SourceContainer, of file: any ByteSource
    ) -> Bool {
        container.name.hasSuffix("_pipe") && stream.parameters.mediaType == .video
            && stream.displayMatrix == nil && saysSomething(file)
    }

    /// Of the first image. Nothing where it says nothing, or can't be decoded.
    static func read(
        path: String, stream: StreamInfo, environment: SourceEnvironment, interrupt: InterruptFlag
    ) -> [StreamSideData] {
        guard
            let demuxer = try? Demuxer.open(
                path: path, environment: environment, interrupt: interrupt, discovery: .header),
            let packet = try? Packet(), (try? demuxer.read(into: packet)) == true,
            let decoder = try? PacketDecoder.open(
                stream.parameters, timeBase: stream.timeBase, threads: 1, limits: environment.limits),
            (try? decoder.send(packet)) == true, (try? decoder.sendEnd()) != nil, let frame = try? Frame(),
            case .ready? = try? decoder.receive(into: frame), let matrix = frame.displayMatrix
        else { return [] }
        return [.displayMatrix(matrix)]
    }

    /// It stands near the beginning, or behind the pixels of PNG and WebP.
    private static func saysSomething(_ file: any ByteSource) -> Bool {
        let part = min(file.size, 1 << 16)
        let offsets = file.size > part ? [0, file.size - part] : [0]
        return offsets.contains { offset in
            guard let bytes = file.bytes(at: offset, Int(part)) else { return false }
            return marks.contains { mark in
                bytes.indices.dropLast(mark.count - 1).contains { start in
                    mark.indices.allSatisfy { bytes[start + $0] == mark[$0] }
                }
            }
        }
    }
}
