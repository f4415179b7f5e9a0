internal import LibAV

/// Draws text subtitles into frames (libavfilter's `ass`). All events of the track are read before the first frame.
final class TextSubtitleRenderer: SubtitleRenderer {
    private let target: OverlayTarget
    private let folder: String
    /// The script; empty once the graph has read it.
    private var script: String
    private let filter = FrameFilter("drawing subtitles")

    /// Creates a renderer for a track that is read as ASS.
    init(
        _ read: CompositionRead, style: SubtitleStyle, target: OverlayTarget, folder: String
    ) throws {
        (self.target, self.folder) = (target, folder)
        script = try Self.script(read, style: style, frameHeight: target.size.height)
    }

    func draw(
        into base: consuming Frame, at position: (section: Int, time: MediaTime), _ index: Int64
    ) throws -> Frame {
        do throws(AVError) {
            // The filter draws the events at a frame's time, also if a later frame has an earlier one.
            let whole = try filter.frame(of: base, at: position.time.ticks(in: target.timeBase)) {
                base throws(AVError) in try graph(like: base)
            }
            if target.setsColor { whole.applyColor(target.color) }
            return whole
        } catch {
            throw MediaError.encoding(track: .part(.subtitles), error)
        }
    }

    private static func script(
        _ read: CompositionRead, style: SubtitleStyle, frameHeight: Int
    ) throws -> String {
        let format = try SubtitleCodec.ass.outputFormat(of: read.output.track)
        var script = SubtitleScript(
            header: format.parameters.extradata, style: style, frameHeight: frameHeight)
        while let cue = try read.next() {
            let start = cue.presentationTime
            // An event without a duration is shown for 5 s, as players do.
            let length =
                cue.duration > 0
                ? MediaTime(ticks: cue.duration, timeBase: cue.timeBase) : MediaTime(value: 5, timescale: 1)
            try read.source.namingSource {
                try cue.withPacket { packet in
                    try packet.withBytes { try script.add($0, from: start, to: start + length) }
                }
            }
        }
        return script.text
    }

    /// Builds the graph with a temporary file, because libass reads scripts by file name. It reads the file while the
    /// graph is built.
    private func graph(like base: borrowing Frame) throws(AVError) -> FilterGraph {
        let file = try ScratchFile.make(script, in: folder)
        // libass compares the frame with the size at which it is displayed.
        let shown = PixelSize(
            width: max(1, Int((Double(base.width) * target.pixelAspect.double).rounded())),
            height: base.height)
        let graph = try FilterGraph.video(
            [
                FilterStep("ass", ["filename": file.path, "original_size": "\(shown)"]),
                FilterStep("format", ["pix_fmts": "\(target.pixelFormat)"]),
            ], like: base, timeBase: target.timeBase, sampleAspectRatio: target.pixelAspect,
            frameRate: target.frameRate)
        // The file is removed after the graph has read it.
        withExtendedLifetime(file) {}
        script = ""
        return graph
    }
}
