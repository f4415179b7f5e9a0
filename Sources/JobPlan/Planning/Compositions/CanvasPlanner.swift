internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// The choice of a composition's canvas and audio format.
struct CanvasPlanner {
    var draft: CompositionDraft
    /// Whether an output of the job has 4:4:4 or RGB frames, so that composing keeps full chroma.
    let keepsFullChroma: Bool

    /// Sets the canvas and the audio format: as the job file specifies, else as in the first clip with video or
    /// audio.
    mutating func setFormat(from placed: [PositionedClip]) {
        if let first = placed.first(where: { $0.video != nil }), let video = first.video {
            draft.composition.canvas = canvas(like: draft.shape(video, first.clip.shaping)?.track ?? video)
            if draft.spec.frameRate == nil { setRate(to: first, video) }
        } else if let size = draft.spec.size?.value {
            draft.composition.canvas = Canvas(
                size: size, frameRate: draft.spec.frameRate?.value ?? Rational(25, 1))
        }
        if keepsFullChroma { keepFullChroma() }
        if let audio = placed.lazy.compactMap(\.audio).first {
            draft.setAudioFormat(like: audio)
        }
    }

    /// Selects 4:4:4 for composed frames where possible. libavfilter's `overlay` doesn't support 4:4:4 with
    /// more than 8 bits.
    private mutating func keepFullChroma() {
        if draft.composition.canvas?.pixelFormat == .yuv420p {
            draft.composition.canvas?.pixelFormat = .yuv444p
        } else if draft.composition.canvas != nil {
            draft.reasons.note(
                "compositions of more than 8 bits use 4:2:0 chroma, regardless of the output's pixel format")
        }
    }

    /// Sets the rate of a composition without `frame_rate`: one at which every frame of the first clip is
    /// shown, determined from its packets. Generated sources, and files that another job has yet to publish,
    /// have the rate of their description.
    private mutating func setRate(to first: PositionedClip, _ video: TrackDescription) {
        guard case .file(let path) = first.found.source, first.found.awaited == nil else { return }
        let cadence: FrameCadence?
        do throws(SourceProblem) {
            cadence = try draft.prober.cadence(video.index, of: path, in: first.range)
        } catch {
            draft.reasons.error(
                .sourceUnreadable, "\(path.pathParts.last ?? path): \(error)", at: first.clip.location)
            return
        }
        guard let cadence else { return }
        draft.composition.canvas?.frameRate = cadence.frameRate
        guard !cadence.isConstant else { return }
        let omitted =
            cadence.omittedFrames > 0
            ? "\(cadence.omittedFrames) of its frames are dropped" : "none of its frames is dropped"
        draft.reasons.diagnostics.warning(
            .variableRate,
            "the first clip has a variable frame rate; the composition uses \(cadence.frameRate) frames/s: \(omitted)",
            at: first.clip.location, help: "`frame_rate` sets another rate")
    }

    private func canvas(like track: TrackDescription) -> Canvas {
        var canvas = Canvas(like: track)
        if let size = draft.spec.size?.value { canvas.size = size }
        if let rate = draft.spec.frameRate?.value { canvas.frameRate = rate }
        return canvas
    }
}
