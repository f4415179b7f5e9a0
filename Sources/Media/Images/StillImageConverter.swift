internal import LibAV

/// Converts still images individually, by `VideoOutputSettings`. Confined to one queue.
final class StillImageConverter {
    private let settings: VideoOutputSettings
    private let context: ProducerContext
    private var converter: VideoConverter
    private var lastTime = Int64.min
    /// Whether the filter graph was drained for the last still image. Filters that require several frames get a new
    /// graph for each one.
    private var isSpent = false

    init(settings: VideoOutputSettings, context: ProducerContext) {
        self.settings = settings
        self.context = context
        converter = VideoConverter(settings: settings, context: context)
    }

    func convert(_ frame: consuming Frame, at time: MediaTime) throws -> Frame {
        let tick = context.videoTick
        let ticks = time.ticks(in: tick)
        if isSpent || ticks <= lastTime {
            converter = VideoConverter(settings: settings, context: context)
            isSpent = false
        }
        lastTime = ticks
        frame.pts = ticks
        frame.duration = 1
        frame.clearPictureType()
        try converter.push(frame, in: tick)
        if let converted = try converter.pull() { return converted }
        isSpent = true
        try converter.finish(at: nil)
        guard let converted = try converter.pull() else {
            throw MediaError.invalidSettings("the filters produce no output for a single input frame")
        }
        return converted
    }
}
