internal import CFFmpeg

private let displayMatrixType = AV_PKT_DATA_DISPLAYMATRIX.rawValue

/// What a container says of one of its streams (`AVStream`), as a value.
package struct StreamInfo: Sendable {
    /// Its index in the file.
    package var index: Int
    /// Its id in the file (track id, PID), 0 where it has none.
    package var id: Int
    /// Its codec and format.
    package var parameters: CodecParameters
    /// The unit of its time stamps.
    package var timeBase: Rational
    /// The first presentation time, in `timeBase`.
    package var startTime: Int64?
    /// Its duration as the container says, in `timeBase`.
    package var duration: Int64?
    /// How many packets the index has of it, those never shown included; 0 where there is no index.
    package var indexedPackets: Int
    /// When the first packet of the index begins, in `timeBase`; nil where there is no index.
    package var firstIndexedTime: Int64?
    /// When the last packet of the index begins, in `timeBase`; nil where there is no index.
    package var lastIndexedTime: Int64?
    /// The average frame rate.
    package var averageFrameRate: Rational?
    /// The lowest rate that all time stamps fit.
    package var baseFrameRate: Rational?
    /// Pixel aspect as the container says it.
    package var sampleAspectRatio: Rational?
    /// Dispositions by libav's names (`default`, `attached_pic`, …).
    package var disposition: Set<String>
    /// Its tags.
    package var metadata: [MetadataEntry]
    /// Global side data, to be handed on to an output's stream.
    package var sideData: [StreamSideData]
    /// The field order that its first decoded frames report; nil where they are progressive or weren't decoded.
    package var fields: FieldOrder?

    /// A stream of a source that is generated, with nothing said but its format and length.
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

    /// Matroska's flag that packets have an alpha plane beside them (VP8 and VP9), which libavformat makes a tag.
    var saysAlphaBeside: Bool { metadata.contains(where: \.saysAlphaBeside) }

    /// A cover or poster, not a video track.
    package var isAttachedPicture: Bool { disposition.contains("attached_pic") }

    /// The nine numbers of the display matrix (16.16 and 2.30 fixed point), nil where there is none.
    package var displayMatrix: [Int32]? {
        guard let bytes = sideData.first(where: { $0.kind == "displaymatrix" })?.bytes, bytes.count >= 36
        else {
            return nil
        }
        return bytes.withUnsafeBytes { raw in
            (0..<9).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
        }
    }
}

extension MetadataEntry {
    /// What libavformat calls, and has to be told as, an alpha plane beside the packets.
    package static let alphaBeside = MetadataEntry(key: "alpha_mode", value: "1")

    /// It is that, or the same as a tag, which libavformat writes in capitals.
    package var saysAlphaBeside: Bool {
        key.lowercased() == Self.alphaBeside.key && value == Self.alphaBeside.value
    }
}

/// One global side datum of a stream (`AVPacketSideData`).
public struct StreamSideData: Hashable, Sendable {
    let type: UInt32
    /// A short stable name: `displaymatrix`, `mastering`, `cll`, `dovi`, or libav's own.
    public let kind: String
    /// The datum as libav lays it out in memory.
    public let bytes: [UInt8]
}

/// A chapter of a container.
package struct ChapterInfo: Hashable, Sendable {
    /// The unit of its times.
    package var timeBase: Rational
    /// Its start, in `timeBase`.
    package var start: Int64
    /// Its end, in `timeBase`.
    package var end: Int64
    /// Its tags; the title is `title`.
    package var metadata: [MetadataEntry]
}

extension StreamSideData {
    /// A display matrix of nine numbers.
    public static func displayMatrix(_ matrix: [Int32]) -> StreamSideData {
        StreamSideData(
            type: displayMatrixType, kind: "displaymatrix", bytes: matrix.withUnsafeBytes { Array($0) })
    }
}
