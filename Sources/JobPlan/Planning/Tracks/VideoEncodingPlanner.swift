internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of a video track's encoding: settings of the job, properties of the source, and defaults.
struct VideoEncodingPlanner {
    let spec: VideoEncodeSpec
    /// Track of the source, before the job's filters.
    let original: TrackDescription
    var track: TrackDescription
    let prepared: FramePlanner.Prepared
    let timeZero: MediaTime
    let ranges: [TimeRange]
    let encoder: EncoderInfo
    let container: ContainerType
    var reasons = Reasons()
    var settings: [TrackPlan.Setting] = []
    var targetColor = ColorDescription()

    init(
        spec: VideoEncodeSpec, track: TrackDescription, prepared: FramePlanner.Prepared,
        timeZero: MediaTime, ranges: [TimeRange], encoder: EncoderInfo, container: ContainerType
    ) {
        self.spec = spec
        original = track
        self.track = track
        (self.track.color, self.track.pixelFormat) = (prepared.color, prepared.format)
        self.prepared = prepared
        self.timeZero = timeZero
        self.ranges = ranges
        self.encoder = encoder
        self.container = container
    }

    consuming func decide() -> Decision<TrackPlan.Encoding> {
        let encoding = encoding()
        return Decision(encoding, reasons)
    }

    private mutating func encoding() -> TrackPlan.Encoding {
        let codec = spec.codec.value
        let format = pixelFormat()
        let (size, inner) = size(format: format)
        let source = prepared.size
        var configuration = EncoderConfiguration(encoder: encoder.name, mediaType: .video, timeBase: timeBase)
        configuration.width = size.width
        configuration.height = size.height
        configuration.pixelFormat = codec.frames.composed.flatMap { PixelFormat(named: $0.encoded) } ?? format
        configuration.frameRate = spec.frameRate?.value ?? track.frameRate
        configuration.sampleAspectRatio = aspect(source: source, target: size)
        targetColor = targetColor(in: format, size: size)
        configuration.color = targetColor
        if prepared.isInterlaced, prepared.settings.isEmpty, size == source, codec.frames.fields != .unmarked
        {
            configuration.isInterlaced = codec.frames.fields == .coded
            configuration.fieldOrder = track.fieldOrder
        }
        configuration.keyframeInterval = keyframeInterval

        settings.note("codec", "\(codec.name) (\(encoder.name))", at: spec.codec.range)
        if let range = spec.encoderRange, !codec.isAutomatic {
            settings.note("encoder", encoder.name, at: range)
        }
        rate(into: &configuration)
        if let preset = spec.preset { settings.note("preset", preset.value, at: preset.range) }
        if let profile = spec.profile { settings.note("profile", profile.value, at: profile.range) }
        if let level = spec.level { settings.note("level", level.value, at: level.range) }
        settings.note(
            "size", size.description, spec.size.map { TrackPlan.Setting.Origin($0.range) } ?? .source)
        settings.note(
            "pixel_format", format.description,
            spec.pixelFormat.map { TrackPlan.Setting.Origin($0.range) }
                ?? (format == track.pixelFormat ? .source : .default))
        if codec.isStill {
            // A still image has no frame rate.
        } else if let frameRate = spec.frameRate {
            settings.note("frame_rate", frameRate.value.description, at: frameRate.range)
        } else {
            settings.note(
                "frame_rate", track.frameRate.map { "source timing (about \($0))" } ?? "source timing",
                .source)
        }
        if let interval = configuration.keyframeInterval {
            settings.note("keyframe_interval", counted(interval, "frame"), at: spec.keyframeInterval?.range)
        }
        codec.encoder.set(spec.choices, in: &configuration)
        for option in spec.options {
            settings.note(option.name.value, option.value.value, at: option.name.range)
        }
        let chunks = spec.parallel.map { parallel in
            ChunkPlanner(
                configuration: configuration, hasTargetSize: spec.targetSize != nil, frameCount: frameCount
            ).decide(parallel.value)
        }
        configuration.chunk = chunks?.length
        if let chunks { settings.note("parallel", chunks.description, at: spec.parallel?.range) }
        describeFrames(size, aspect: configuration.sampleAspectRatio)
        if prepared.settings.mapsTones {
            reasons.note("tone mapping from HDR to SDR (hable)")
        }
        warn(source: source, size: size, format: format)

        return TrackPlan.Encoding(
            codec: codec.name, encoder: configuration,
            video: outputSettings(format: format, size: size, inner: inner), audio: nil, loudness: nil,
            hasTwoPasses: spec.hasTwoPasses, maxChunks: chunks?.maximum,
            chunkFiles: chunks?.isDistributed == true ? [] : nil,
            targetSize: spec.targetSize.map { TargetSize(bytes: $0.value, location: $0.range) },
            targetQuality: targetQuality,
            settings: settings, requestedColor: requestedColor)
    }

    /// Returns the conversion of decoded frames to those that the encoder receives.
    private func outputSettings(
        format: PixelFormat, size: PixelSize, inner: PixelSize?
    ) -> VideoOutputSettings {
        var video = prepared.settings
        video.pixelFormat = format == track.pixelFormat && video.isEmpty ? nil : format
        video.size = size == prepared.size && inner == nil && video.isEmpty ? nil : size
        video.fit = spec.resolvedFit ?? .stretch
        video.innerSize = inner
        video.color = video.mapsTones ? targetColor : conversion
        if video.color?.hasRGBMatrix == true { video.color?.matrix = nil }
        video.levels = targetColor.range
        video.matrix = isCrossing ? targetColor.matrix : nil
        video.sourceRange = original.color.range
        video.sourceMatrix = assumesMatrix || spec.filters != nil ? sourceMatrix : nil
        video.frameRate = spec.frameRate?.value
        return video
    }

    /// Target of `quality`, whose probes are distributed over the ranges that are read.
    private lazy var targetQuality: TargetQuality? = {
        let whole = TimeRange(
            start: max(.zero, track.timeRange.start), end: max(.zero, track.timeRange.end))
        return spec.quality.flatMap {
            TargetQuality(
                $0, encoder: spec.codec.value.encoder, ranges: ranges.isEmpty ? [whole] : ranges,
                tick: timeBase)
        }
    }()

    private var requestedColor: [String] {
        let color = spec.color
        return [
            color?.primaries == nil ? nil : "primaries", color?.transfer == nil ? nil : "transfer",
            color?.matrix == nil ? nil : "matrix", color?.levels == nil ? nil : "range",
        ].compactMap { $0 }
    }

    /// Time base in which the time of every frame is a whole number of ticks.
    private var timeBase: Rational {
        if let rate = spec.frameRate?.value {
            // The last frame ends at the end of the range, unless the encoder counts whole frames.
            let countsFrames = spec.codec.value.twoPasses?.countsFrames == true && spec.hasTwoPasses
            guard !ranges.isEmpty, !countsFrames else { return rate.inverted }
            return AssetReader.videoTick(timeBase: rate.inverted, timeZero: .zero, ranges: ranges)
        }
        return AssetReader.videoTick(timeBase: track.timeBase, timeZero: timeZero, ranges: ranges)
    }

    private func pixelFormat() -> PixelFormat {
        if let format = spec.pixelFormat { return format.value }
        let accepted = spec.codec.value.pixelFormats(of: encoder)
        // For codecs that many players decode only in 8-bit 4:2:0, a conversion to SDR outputs that format.
        if spec.color?.isForHighRangeAlone == true, spec.profile == nil,
            let plain = PixelFormat(named: "yuv420p"),
            BitstreamTraits.of(encoder.codecName).playsPlainAs != nil, accepted.contains(plain)
        {
            return plain
        }
        let taken = spec.codec.value.frames.composed?.frames.compactMap { PixelFormat(named: $0) }
        let formats = (taken ?? accepted).filter { format in
            if let matrix = spec.color?.matrix?.value, spec.color?.isForHighRangeAlone == false,
                (matrix == ColorDescription.rgbMatrix) != format.isRGB
            {
                return false
            }
            // Full range is declared separately instead of by a pixel format such as yuvj420p.
            if format.isFullRangeByName, spec.codec.value.codec.fixedColor != .jpeg,
                format != track.pixelFormat || spec.color?.levels?.value == .limited
            {
                return false
            }
            return spec.codec.value.frames.supports(
                format, spec.profile?.value, container.model.supportsSeparateAlpha)
        }
        return track.pixelFormat.nearest(of: formats) ?? formats.first ?? track.pixelFormat
    }

    /// Returns the size of the output. A missing side follows from the aspect ratio. Sides are rounded to
    /// multiples that the pixel format's chroma subsampling allows: to the nearest for computed sides, down
    /// for odd sides of the source. `inner` is the size of the frame itself if padding or cropping changes
    /// its aspect ratio.
    private func size(format: PixelFormat) -> (size: PixelSize, inner: PixelSize?) {
        // Bars are added, and frames are cropped to a size, in whole chroma samples, whatever the codec supports.
        let isAligned = spec.resolvedFit == .contain || spec.resolvedFit == .cover
        let step =
            isAligned || spec.codec.value.frames.roundsToChroma ? format.chromaSubsampling : (1, 1)
        func down(_ value: Int, _ unit: Int) -> Int { max(unit, value / unit * unit) }
        let (width, height) = (Double(max(1, prepared.size.width)), Double(max(1, prepared.size.height)))
        let whole = PixelSize(
            width: down(prepared.size.width, step.0), height: down(prepared.size.height, step.1))
        switch (spec.size?.value.width, spec.size?.value.height) {
        case (let w?, let h?):
            var box = PixelSize(width: down(w, step.0), height: down(h, step.1))
            guard let fit = spec.resolvedFit, fit != .stretch else { return (box, nil) }
            // Display width, with square pixels.
            let shown = width * (prepared.aspect?.double ?? 1)
            if fit == .scaleDown {
                if (shown > height) != (w > h) {
                    box = PixelSize(width: down(h, step.0), height: down(w, step.1))
                }
                if Double(box.width) >= shown, Double(box.height) >= height { return (whole, nil) }
            }
            let inner = box.fitting((shown, height), covers: fit == .cover, step: step)
            return fit == .inside || fit == .scaleDown ? (inner, nil) : (box, inner)
        case (let w?, nil):
            let target = down(w, step.0)
            return (
                PixelSize(width: target, height: PixelSize.nearest(height * Double(target) / width, step.1)),
                nil
            )
        case (nil, let h?):
            let target = down(h, step.1)
            return (
                PixelSize(width: PixelSize.nearest(width * Double(target) / height, step.0), height: target),
                nil
            )
        case (nil, nil): return (whole, nil)
        }
    }

    /// Returns the color properties of the output: the source's, overridden by the job's, as far as pixel
    /// format and codec can represent them.
    private func targetColor(in format: PixelFormat, size: PixelSize) -> ColorDescription {
        var color = track.color
        color.primaries = spec.color?.primaries?.value ?? color.primaries
        color.transfer = spec.color?.transfer?.value ?? color.transfer
        if format.isRGB {
            (color.matrix, color.range, color.chromaLocation) = (ColorDescription.rgbMatrix, .full, nil)
            return color
        }
        if track.pixelFormat.isRGB {
            (color.matrix, color.range, color.chromaLocation) = (sourceMatrix, .limited, nil)
        } else if color.matrix == nil, isMatrixAssumedDifferently(size) {
            color.matrix = sourceMatrix
        }
        color.matrix = spec.color?.matrix?.value ?? color.matrix
        color.range = spec.color?.levels?.value ?? color.range
        switch spec.codec.value.codec.fixedColor {
        case nil: break
        case .jpeg:
            let matrix = ColorDescription.jpegMatrix
            if !ColorDescription.isSameMatrix(color.matrix, matrix) { color.matrix = matrix }
            color.range = .full
        case .limited: color.range = .limited
        }
        if format.isFullRangeByName { color.range = .full }
        return color
    }

    /// Whether RGB is converted to YUV or YUV to RGB.
    var isCrossing: Bool { track.pixelFormat.isRGB != targetColor.hasRGBMatrix }

    /// Matrix of the YUV side of a conversion; guessed from the frame size if the source doesn't declare one.
    var sourceMatrix: String {
        for color in [track.color, original.color] where !color.hasRGBMatrix {
            if let matrix = color.matrix { return matrix }
        }
        if track.color.primaries == ColorDescription.widePrimaries { return ColorDescription.wideMatrix }
        return ColorDescription.defaultMatrix(width: track.width, height: track.height)
    }

    /// Returns whether players assume another matrix for frames of that size than for the source's frames.
    func isMatrixAssumedDifferently(_ size: PixelSize) -> Bool {
        ColorDescription.defaultMatrix(width: size.width, height: size.height)
            != ColorDescription.defaultMatrix(width: track.width, height: track.height)
    }

    /// Whether a matrix must be assumed, because frames without a declared one are converted to RGB or encoded as JPEG.
    var assumesMatrix: Bool {
        !track.pixelFormat.isRGB && track.color.matrix == nil
            && (isCrossing || spec.codec.value.codec.fixedColor == .jpeg)
    }

    /// Range of the source; if the source doesn't declare one, limited, except for pixel formats that are
    /// usually of full range.
    var sourceRange: ColorRange { track.color.range ?? track.pixelFormat.defaultRange }

    /// Color properties to convert: those that the source declares and the job sets to another value; nil if
    /// there are none. Properties that the source doesn't declare are only tagged with the job's values. The
    /// scaler converts range and RGB.
    var conversion: ColorDescription? {
        var color = ColorDescription()
        func changed(_ from: String?, _ to: String?) -> String? {
            from != nil && to != nil && from != to ? to : nil
        }
        color.primaries = changed(track.color.primaries, targetColor.primaries)
        color.transfer = changed(track.color.transfer, targetColor.transfer)
        let matrix = assumesMatrix ? sourceMatrix : track.color.matrix
        if !track.pixelFormat.isRGB, !isCrossing, !ColorDescription.isSameMatrix(matrix, targetColor.matrix) {
            color.matrix = changed(matrix, targetColor.matrix)
        }
        return color == ColorDescription() ? nil : color
    }

    /// Returns the pixel aspect ratio: square pixels if the frame is fitted into a size with both sides. If
    /// only rounding scales the sides unequally, the display aspect ratio is kept.
    private func aspect(source: PixelSize, target: PixelSize) -> Rational? {
        if let aspect = spec.pixelAspectRatio { return aspect.value }
        // At most one odd line is cropped: the pixel aspect ratio is unchanged.
        let isWhole = source.width - target.width < 2 && source.height - target.height < 2
        let own = prepared.aspect ?? Rational(1, 1)
        if source == target, spec.fit == nil, own == Rational(1, 1) { return prepared.aspect }
        if let fit = spec.resolvedFit, fit != .scaleDown || !isWhole { return Rational(1, 1) }
        if source == target || spec.resolvedFit == .scaleDown { return prepared.aspect }
        var num = Int64(own.num) * Int64(source.width) * Int64(target.height)
        var den = Int64(own.den) * Int64(source.height) * Int64(target.width)
        var (a, b) = (num, den)
        while b != 0 { (a, b) = (b, a % b) }
        num /= max(1, a)
        den /= max(1, a)
        // A side that was rounded by less than a pixel doesn't change the pixel aspect ratio.
        let change = Double(num) / Double(max(1, den)) / own.double
        if spec.size?.value.width == nil || spec.size?.value.height == nil, abs(change - 1) < 0.02 {
            return prepared.aspect
        }
        while num > 65_535 || den > 65_535 {
            num = (num + 1) / 2
            den = (den + 1) / 2
        }
        return Rational(Int32(num), Int32(max(1, den)))
    }

    private var keyframeInterval: Int? {
        switch spec.keyframeInterval?.value {
        case nil: nil
        case .frames(let frames): frames
        case .time(let time):
            (spec.frameRate?.value ?? track.frameRate).map { max(1, Int(time.ticks(in: $0.inverted))) } ?? 250
        }
    }

    /// Expected number of frames; nil if rate or duration are unknown.
    private var frameCount: Int64? {
        let duration =
            ranges.isEmpty
            ? track.timeRange.duration : ranges.reduce(MediaTime.zero) { $0 + $1.duration }
        guard let rate = spec.frameRate?.value ?? track.frameRate, rate.isPositive, duration > .zero else {
            return nil
        }
        return duration.ticks(in: rate.inverted)
    }

    private mutating func rate(into configuration: inout EncoderConfiguration) {
        if let target = spec.targetSize {
            // `TargetSizePlanner` computes the rate when all tracks are known.
            configuration.bitRate = 0
            settings.note("target_size", "\(target.value)", at: target.range)
            settings.note("bitrate", "0", .default)
        } else {
            constantRate(into: &configuration)
        }
        if let quality = spec.quality, let target = targetQuality {
            settings.note("quality", target.description, at: quality.range)
            settings.note("search", target.search, .default)
        }
        if let maximum = spec.maxBitRate {
            configuration.maxBitRate = maximum.value
            settings.note("max_bitrate", "\(maximum.value)", at: maximum.range)
        }
        if let buffer = spec.bufferSize {
            configuration.bufferSize = buffer.value
            settings.note("buffer_size", "\(buffer.value)", at: buffer.range)
        }
    }

    /// Sets the rate control that the job or the codec's default determines.
    private mutating func constantRate(into configuration: inout EncoderConfiguration) {
        let codec = spec.codec.value
        let range = spec.rateControl?.range
        let stillQuality = codec.stillQuality?.defaultValue
        codec.encoder.set(spec.rateControl?.value ?? stillQuality.map { .quality($0) }, in: &configuration)
        switch spec.rateControl?.value {
        case .crf(let value): settings.note("crf", ThousandthsText.text(value), at: range)
        case .qp(let value): settings.note("qp", "\(value)", at: range)
        case .quality(let value): settings.note("quality", "\(value)", at: range)
        case .bitRate(let value): settings.note("bitrate", "\(value)", at: range)
        case .lossless: settings.note("lossless", "true", at: range)
        case nil:
            if let stillQuality {
                settings.note("quality", "\(stillQuality)", .default)
            } else if spec.quality == nil {
                settings.note("rate control", codec.rate.defaultRate, .default)
            }
        }
    }
}
