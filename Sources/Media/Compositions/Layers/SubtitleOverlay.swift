internal import LibAV

/// Draws subtitles into frames of a composition, in order (libavfilter's `ass`). All events of the track are read
/// before the first frame. Confined to one queue.
final class SubtitleOverlay: FrameOverlay {
    private let layer: SubtitleLayer
    private let timeRange: TimeRange
    private let canvas: Canvas
    private let folder: String
    private let open: () throws -> CompositionRead
    private let filter = FrameFilter("drawing subtitles")

    /// Creates an overlay. `open` starts reading the events as ASS; their times count from the start of `timeRange`.
    /// `folder`: location of the temporary script.
    init(
        _ layer: SubtitleLayer, over timeRange: TimeRange, canvas: Canvas, in folder: String,
        open: @escaping () throws -> CompositionRead
    ) {
        (self.layer, self.timeRange, self.canvas) = (layer, timeRange, canvas)
        (self.folder, self.open) = (folder, open)
    }

    func prepare(at time: MediaTime) throws {}

    func put(above base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame {
        let script = filter.isBuilt ? "" : try script()
        do throws(AVError) {
            let whole = try filter.frame(of: base, at: index) { base throws(AVError) in
                try graph(of: script, like: base)
            }
            whole.applyColor(canvas.color)
            return whole
        } catch {
            throw MediaError.encoding(track: .part(.subtitles), error)
        }
    }

    private func script() throws -> String {
        let read = try open()
        let format = try SubtitleCodec.ass.outputFormat(of: read.output.track)
        var script = SubtitleScript(header: format.parameters.extradata, style: layer, canvas: canvas)
        while let cue = try read.next() {
            let start = timeRange.start + cue.presentationTime
            // An event without a duration is shown for 5 s, as players do.
            let length =
                cue.duration > 0
                ? MediaTime(ticks: cue.duration, timeBase: cue.timeBase) : MediaTime(value: 5, timescale: 1)
            let end = min(start + length, timeRange.end)
            guard start < end else { continue }
            try cue.withPacket { packet in
                try packet.withBytes { try script.add($0, from: start, to: end) }
            }
        }
        return script.text
    }

    /// Builds the graph with a temporary file, because libass reads scripts by file name. It reads the file while the
    /// graph is built.
    private func graph(of script: String, like base: borrowing Frame) throws(AVError) -> FilterGraph {
        let file = try ScratchFile.make(script, in: folder)
        let graph = try FilterGraph.video(
            [
                FilterStep("ass", ["filename": file.path]),
                FilterStep("format", ["pix_fmts": "\(canvas.pixelFormat)"]),
            ], like: base, timeBase: canvas.frameRate.inverted, sampleAspectRatio: Rational(1, 1),
            frameRate: canvas.frameRate)
        // The file is removed after the graph has read it.
        withExtendedLifetime(file) {}
        return graph
    }
}
