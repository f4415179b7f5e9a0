internal import LibAV

/// How an image is to be rotated for display, as a camera writes it into the image itself (EXIF). libavcodec tells of it with the decoded
/// image alone, and whoever plans must know it before.
enum ImageOrientation {
    /// What stands before such words in JPEG, PNG and WebP.
    private static let marks: [[UInt8]] = ["Exif", "eXIf", "EXIF"].map { Array($0.utf8) }

    /// An image by itself, of which its container says nothing.
    static func isAskedFor(_ stream: StreamInfo, in container: SourceContainer) -> Bool {
        container.name.hasSuffix("_pipe") && stream.parameters.mediaType == .video
            && stream.displayMatrix == nil
    }

    /// Of the first image. Nothing where it says nothing, or can't be decoded.
    static func read(
        path: String, stream: StreamInfo, environment: SourceEnvironment, interrupt: InterruptFlag
    ) -> [StreamSideData] {
        guard
            let demuxer = try? Demuxer.open(
                path: path, environment: environment, interrupt: interrupt, discovery: .header),
            let packet = try? Packet(), (try? demuxer.read(into: packet)) == true, saysSomething(packet),
            let decoder = try? PacketDecoder.open(
                stream.parameters, timeBase: stream.timeBase, threads: 1, limits: environment.limits),
            (try? decoder.send(packet)) == true, (try? decoder.sendEnd()) != nil, let frame = try? Frame(),
            case .ready? = try? decoder.receive(into: frame), let matrix = frame.displayMatrix
        else { return [] }
        return [.displayMatrix(matrix)]
    }

    /// It stands near the beginning, or behind the pixels of PNG and WebP.
    private static func saysSomething(_ packet: borrowing Packet) -> Bool {
        packet.withBytes { bytes in
            let (near, part) = (bytes.count > 1 << 17, 1 << 16)
            let places =
                near ? [0..<part, (bytes.count - part)..<bytes.count] : [0..<bytes.count]
            return places.contains { place in
                marks.contains { mark in
                    place.dropLast(mark.count).contains { start in
                        mark.indices.allSatisfy { bytes[start + $0] == mark[$0] }
                    }
                }
            }
        }
    }
}
