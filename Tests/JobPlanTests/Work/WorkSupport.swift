import JobPlan
import LibAV
import Testing

@testable import Media

extension AssetTrack {
    /// Returns a track as it is read back from a file, with the format that `codec` and the description state.
    static func read(
        _ description: TrackDescription, codec: String? = nil, color: ColorDescription? = nil,
        editEnd: MediaTime? = nil, tags: [MetadataEntry] = []
    ) throws -> AssetTrack {
        let name = codec ?? description.codec
        let format: FormatDescription
        switch description.mediaType {
        case .audio:
            format = try .audio(
                codec: name, sampleRate: description.sampleRate, layout: description.channelLayout ?? .stereo,
                sampleFormat: description.sampleFormat)
        default:
            // Formats of other types aren't read by the tests.
            format = try .video(
                codec: description.mediaType == .video ? name : "h264",
                size: PixelSize(width: max(2, description.width), height: max(2, description.height)),
                pixelFormat: description.mediaType == .video ? description.pixelFormat : .yuv420p)
        }
        return AssetTrack(
            description: description, format: format, sampleTimeBase: nil, editEnd: editEnd, editStart: nil,
            edits: [], mediaOrigin: nil, summary: Demuxer.IndexSummary(), changesHeaders: false,
            hiddenStart: nil, metadata: tags, sideData: [])
    }
}

extension AssetContents {
    /// Returns the contents of an mp4 file with the given tracks.
    static func read(
        _ tracks: [AssetTrack], metadata: [MetadataEntry] = [], chapters: [AssetChapter] = [],
        missingBytes: Int64 = 0
    ) -> AssetContents {
        AssetContents(
            container: SourceDescription.movie, fileSize: 1000, missingBytes: missingBytes, tracks: tracks,
            duration: tracks.map(\.timeRange.end).max() ?? .zero, isDurationExact: true, timeZero: .zero,
            metadata: metadata, chapters: chapters)
    }
}
