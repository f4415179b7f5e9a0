internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// A subtitle track that is drawn into the frames of a video track.
struct BurnedTrack {
    let spec: BurnSpec
    let track: TrackDescription
    /// The file that has the track; nil for the source.
    var file: SubtitleFile? = nil
    /// Whether another rule selects the track as well.
    var isSelected = false

    /// The track in messages.
    var name: String { track.subtitleName(in: file) }
}

extension TrackDescription {
    /// A subtitle track in messages, such as `subtitle track 2 of captions.srt`; `file` is nil for a track of the source.
    func subtitleName(in file: SubtitleFile?) -> String {
        "subtitle track \(index)" + (file.map { " of \($0.plan.name)" } ?? "")
    }
}

/// The planner of burned subtitles: codec, style and fonts, and the frames into which they are drawn.
struct BurnPlanner {
    let burned: BurnedTrack
    /// The source of the video track.
    let source: InputPlan.Source
    /// Whether the tracks of the source are in several files, as in a package.
    let isPackage: Bool
    /// Pixel format of the frames.
    let pixelFormat: PixelFormat
    /// Whether the frames are HDR.
    let isHighRange: Bool
    /// Returns the machine's fonts. Called only for text.
    let fonts: () -> FontFinder

    func decide() -> Decision<BurnPlan> {
        var reasons = Reasons()
        let (spec, codec) = (burned.spec, burned.track.codec)
        if burned.file == nil, isPackage || !isMediaFile {
            reasons.error(
                .notSupported, "`burn` of the source's own subtitles requires one media file as the source",
                at: spec.range,
                help: "a subtitle file is `burn: { asset: captions.srt }`")
        }
        let isText = SubtitleCodec.canConvert(from: codec)
        if !isText, OverlayFormat(pixelFormat) == nil {
            reasons.error(
                .codecSetting, "images of subtitles can't be drawn into \(pixelFormat) frames",
                at: spec.range,
                help: "set `pixel_format` to one of \(OverlayFormat.pixelFormats.joined(separator: ", "))")
        }
        if isHighRange, spec.style.color == nil {
            reasons.note(
                "burned subtitles keep their code values in HDR, in which white is as bright as the format allows; `color` sets another one for text"
            )
        }
        let planner = SubtitleStylePlanner(
            spec: spec.style, codec: codec, name: burned.name, location: spec.range, fonts: fonts)
        guard let style = reasons.take(planner.decide()), !reasons.hasErrors else {
            return Decision(nil, reasons)
        }
        return Decision(
            BurnPlan(file: burned.file?.plan, track: burned.track.index, codec: codec, style: style), reasons)
    }

    /// Whether the source is one media file, of this job or of another.
    private var isMediaFile: Bool {
        switch source {
        case .file, .job: true
        case .pattern, .images, .composition: false
        }
    }
}
