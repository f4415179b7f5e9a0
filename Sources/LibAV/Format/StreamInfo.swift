internal import CFFmpeg

private let displayMatrixType = AV_PKT_DATA_DISPLAYMATRIX.rawValue

/// Properties of a stream that a container declares (`AVStream`).
package struct StreamInfo: Sendable {
    /// Index of the stream in the file.
    package var index: Int
    /// Id of the stream in the file (track id, PID); 0 if it has none.
    package var id: Int
    /// Codec, format and codec headers.
    package var parameters: CodecParameters
    /// Time base of the stream's timestamps.
    package var timeBase: Rational
    /// First presentation time, in `timeBase`; nil if unknown.
    package var startTime: Int64?
    /// Duration that the container declares, in `timeBase`; nil if unknown.
    package var duration: Int64?
    /// Number of indexed packets, including those that are never presented; 0 without an index.
    package var indexedPackets: Int
    /// Timestamp of the first indexed packet, in `timeBase`; nil without an index.
    package var firstIndexedTime: Int64?
    /// Timestamp of the last indexed packet, in `timeBase`; nil without an index.
    package var lastIndexedTime: Int64?
    /// Average frame rate in frames/s; nil if unknown.
    package var averageFrameRate: Rational?
    /// Lowest frame rate that represents all timestamps (`r_frame_rate`); nil if unknown.
    package var baseFrameRate: Rational?
    /// Pixel aspect ratio that the container declares; nil if it declares none.
    package var sampleAspectRatio: Rational?
    /// Dispositions by FFmpeg's names (`default`, `attached_pic`, …).
    package var disposition: Set<String>
    /// Metadata tags of the stream.
    package var metadata: [MetadataEntry]
    /// Side data of the stream, which a copy adds to the output's stream.
    package var sideData: [StreamSideData]
    /// Field order of the first decoded frames; nil if they are progressive or weren't decoded.
    package var fields: FieldOrder?

    /// Creates the description of a generated source's stream, with no properties other than format and duration.
    package init(index: Int, parameters: CodecParameters, timeBase: Rational, duration: Int64, packets: Int) {
        self.init(
            index: index, id: index + 1, parameters: parameters, timeBase: timeBase, startTime: 0,
            duration: duration,
            indexedPackets: packets, averageFrameRate: nil, baseFrameRate: nil,
            sampleAspectRatio: nil, disposition: ["default"], metadata: [], sideData: [])
    }

    init(
        index: Int, id: Int, parameters: CodecParameters, timeBase: Rational, startTime: Int64?,
        duration: Int64?,
        indexedPackets: Int, averageFrameRate: Rational?, baseFrameRate: Rational?,
        sampleAspectRatio: Rational?, disposition: Set<String>, metadata: [MetadataEntry],
        sideData: [StreamSideData]
    ) {
        self.index = index
        self.id = id
        self.parameters = parameters
        self.timeBase = timeBase
        self.startTime = startTime
        self.duration = duration
        self.indexedPackets = indexedPackets
        self.averageFrameRate = averageFrameRate
        self.baseFrameRate = baseFrameRate
        self.sampleAspectRatio = sampleAspectRatio
        self.disposition = disposition
        self.metadata = metadata
        self.sideData = sideData
    }

    /// Whether the stream has a separate alpha plane (VP8 and VP9), for which Matroska has a flag. libavformat
    /// represents the flag by a tag.
    var hasSeparateAlpha: Bool { metadata.contains(where: \.isSeparateAlphaTag) }

    /// Whether the stream is a cover or poster and not a video track.
    package var isAttachedPicture: Bool { disposition.contains("attached_pic") }

    /// Elements of the display matrix (16.16 and 2.30 fixed point); nil without one.
    package var displayMatrix: [Int32]? {
        guard let bytes = sideData.first(where: { $0.kind == .displayMatrix })?.bytes, bytes.count >= 36
        else {
            return nil
        }
        return bytes.withUnsafeBytes { raw in
            (0..<9).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
        }
    }
}

extension MetadataEntry {
    /// Tag by which libavformat represents a separate alpha plane, when reading and writing.
    package static let separateAlphaTag = MetadataEntry(key: "alpha_mode", value: "1")

    /// Whether the entry equals `separateAlphaTag`. Keys are compared case-insensitively, since libavformat writes
    /// upper-case keys.
    package var isSeparateAlphaTag: Bool {
        key.lowercased() == Self.separateAlphaTag.key && value == Self.separateAlphaTag.value
    }
}

/// An item of side data that applies to a whole stream (`AVPacketSideData`).
package struct StreamSideData: Hashable, Sendable {
    let type: UInt32
    package let kind: SideDataKind
    /// Data in FFmpeg's memory layout.
    package let bytes: [UInt8]
}

/// A chapter of a container.
package struct ChapterInfo: Hashable, Sendable {
    /// Time base of `start` and `end`.
    package var timeBase: Rational
    /// Start of the chapter, in `timeBase`.
    package var start: Int64
    /// End of the chapter, in `timeBase`.
    package var end: Int64
    /// Metadata tags; the key of the title is `title`.
    package var metadata: [MetadataEntry]
}

extension StreamSideData {
    /// Returns an ICC profile.
    package static func colorProfile(_ bytes: [UInt8]) -> StreamSideData {
        StreamSideData(type: AV_PKT_DATA_ICC_PROFILE.rawValue, kind: .colorProfile, bytes: bytes)
    }

    /// Returns a display matrix of nine numbers.
    package static func displayMatrix(_ matrix: [Int32]) -> StreamSideData {
        StreamSideData(
            type: displayMatrixType, kind: .displayMatrix, bytes: matrix.withUnsafeBytes { Array($0) })
    }
}
