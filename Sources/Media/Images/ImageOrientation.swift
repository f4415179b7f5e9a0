internal import LibAV

/// Orientation of an image for display, as cameras store it in the image (EXIF). libavcodec reports it only with the
/// decoded frame, but plans require it in advance.
enum ImageOrientation {
    /// Bytes that precede EXIF data in JPEG, PNG and WebP.
    private static let marks: [[UInt8]] = ["Exif", "eXIf", "EXIF"].map { Array($0.utf8) }

    /// Returns whether an image file may contain an orientation that its container doesn't report.
    static func needsInspection(
        _ stream: StreamInfo, in container: DemuxerModel, of file: any ByteSource
    ) -> Bool {
        container.isImageFile && stream.parameters.mediaType == .video
            && stream.displayMatrix == nil && mayContainOrientation(file)
    }

    /// Decodes the first image and returns its orientation. Returns an empty array if it has none, or can't be
    /// decoded.
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

    /// Searches the beginning and the end of the file, because PNG and WebP may store EXIF data after the pixels.
    private static func mayContainOrientation(_ file: any ByteSource) -> Bool {
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
