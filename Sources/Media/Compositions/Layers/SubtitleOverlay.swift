internal import LibAV

/// Draws cues into frames of a composition, one after the other (libavfilter's `ass`). All cues of the track are read before the first
/// frame. Confined to one queue.
final class SubtitleOverlay: FrameOverlay {
    private let layer: SubtitleLayer
    private let timeRange: TimeRange
    private let canvas: Canvas
    private let folder: String
    private let open: () throws -> CompositionRead
    private let filter = FrameFilter("drawing subtitles")

    /// `open` begins to read the cues, as ASS; they begin with the range. `folder`: where their script lies for a moment.
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
            whole.describe(as: canvas.color)
            return whole
        } catch {
            throw MediaError.encoding(track: "subtitles", error)
        }
    }

    private func script() throws -> String {
        let read = try open()
        let format = try SubtitleCodec.ass.outputFormat(of: read.output.track)
        var script = SubtitleScript(header: format.parameters.extradata, style: layer, canvas: canvas)
        while let cue = try read.next() {
            let start = timeRange.start + cue.presentationTime
            // One that doesn't say how long it is shown stays for some time, as players have it.
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

    /// libass reads a file by its name, and has read it when the graph is there.
    private func graph(of script: String, like base: borrowing Frame) throws(AVError) -> FilterGraph {
        let file = try ScratchFile.make(script, in: folder)
        let graph = try FilterGraph.video(
            [
                FilterStep("ass", ["filename": file.path]),
                FilterStep("format", ["pix_fmts": "\(canvas.pixelFormat)"]),
            ], like: base, timeBase: canvas.frameRate.inverted, sampleAspectRatio: Rational(1, 1),
            frameRate: canvas.frameRate)
        // Not before it was read.
        withExtendedLifetime(file) {}
        return graph
    }
}
