internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// A video track after its crop, rotation and filters, before it is fitted into a composition's canvas.
struct ShapedTrack {
    /// Track description after these steps.
    var track: TrackDescription
    private let own: VideoOutputSettings
    /// Whether the source's frames are unchanged.
    private let isPlain: Bool

    init(_ track: TrackDescription) {
        (self.track, own, isPlain) = (track, VideoOutputSettings(), true)
    }

    init(_ track: TrackDescription, _ prepared: FramePlanner.Prepared) {
        var shaped = track
        (shaped.width, shaped.height) = (prepared.size.width, prepared.size.height)
        (shaped.pixelAspectRatio, shaped.transform) = (prepared.aspect, prepared.transform)
        (shaped.pixelFormat, shaped.color) = (prepared.format, prepared.color)
        shaped.isInterlaced = prepared.isInterlaced
        (self.track, own, isPlain) = (shaped, prepared.settings, false)
    }

    /// Returns the settings that convert the source's frames to frames of the canvas.
    func settings(on canvas: Canvas, fit: FrameFit, box: PixelSize? = nil) -> VideoOutputSettings {
        var settings = VideoOutputSettings(track, on: canvas, fit: fit, box: box)
        guard !isPlain else { return settings }
        (settings.crop, settings.turn) = (own.crop, own.turn)
        if let filters = own.filters {
            settings.filters = filters.followed(by: settings.filters?.steps ?? [])
        }
        (settings.filtered, settings.deinterlacing) = (own.filtered, own.deinterlacing)
        settings.deinterlacesLateFields = own.deinterlacesLateFields
        return settings
    }
}

extension ShapedTrack {
    /// Returns a track after its crop and filters; nil with an error if they don't fit the track.
    static func decide(
        _ track: TrackDescription, _ shaping: CompositionSpec.Shaping, prober: any SourceProber
    ) -> Decision<ShapedTrack> {
        guard let spec = VideoEncodeSpec(shaping) else { return Decision(ShapedTrack(track)) }
        let decision = FramePlanner(spec: spec, track: track, prober: prober).decide()
        var reasons = Reasons()
        reasons.diagnostics = decision.reasons.diagnostics
        return Decision(decision.value.map { ShapedTrack(track, $0) }, reasons)
    }
}
