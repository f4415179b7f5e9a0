internal import FoundationEssentials
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// Writes the segments of a rendition into its file, one after another, and records their locations. The file is a
/// fragmented mp4 or a transport stream, which is verified as any other output, and later divided into the files of the
/// package.
final class SegmentRecorder: AssetWriterDelegate, Sendable {
    /// A segment in the rendition's file.
    struct Segment {
        let part: TemporaryFile.Part
        let report: AssetSegmentTrackReport
    }

    private struct State {
        var end: Int64 = 0
        var initialization: Int64 = 0
        var segments: [Segment] = []
    }

    private let file: TemporaryFile
    private let state = Guarded(State())

    init(_ file: TemporaryFile) { self.file = file }

    /// Segments that were written, in order.
    var segments: [Segment] { state.withLock { $0.segments } }

    /// Size of the initialization section, which precedes the segments, in bytes; 0 without one.
    var initialization: Int64 { state.withLock { $0.initialization } }

    /// Returns the first video sample of a segment; nil without one, or if it is larger than `limit` bytes.
    func firstSample(of segment: Segment, limit: Int) throws -> [UInt8]? {
        guard let sample = segment.report.firstVideoSample, (1...limit).contains(sample.length) else {
            return nil
        }
        return try file.bytes(
            of: TemporaryFile.Part(
                offset: segment.part.offset + Int64(sample.offset), length: Int64(sample.length)))
    }

    /// Returns the first bytes of a segment, at most `size`.
    func beginning(of segment: Segment, size: Int) throws -> [UInt8] {
        try file.bytes(
            of: TemporaryFile.Part(
                offset: segment.part.offset, length: min(Int64(size), segment.part.length)))
    }

    func assetWriter(
        _ writer: AssetWriter, didOutputSegmentData data: Data, segmentType: AssetSegmentType,
        segmentReport: AssetSegmentReport
    ) throws {
        let offset = state.withLock { $0.end }
        try data.withUnsafeBytes { try file.write($0, at: offset) }
        state.withLock { state in
            state.end += Int64(data.count)
            guard segmentType == .separable, let report = segmentReport.trackReports.first else {
                state.initialization = state.end
                return
            }
            state.segments.append(
                Segment(part: TemporaryFile.Part(offset: offset, length: Int64(data.count)), report: report))
        }
    }
}
