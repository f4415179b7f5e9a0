package import LibAV

/// The chain of filters that frames of one form go through on their way to `settings`, but for the frame rate.
///
/// A change of pixel format is a change of numbers, and libavfilter's scaler tells of range and matrix only half: it
/// brings full range to the limited one where nobody forbids it, and takes any RGB for BT.601. So every scaler is told
/// what goes in and what comes out, also those that libavfilter puts between filters by itself.
package struct FrameFilterChain {
    let settings: VideoOutputSettings
    let size: PixelSize
    let format: PixelFormat
    /// What the numbers mean.
    let isFullRange: Bool
    /// Of frames that are no RGB.
    let matrix: String?
    /// The size that frames come out in where `settings` say none.
    let wholeSize: PixelSize?
    let target: PixelFormat
    /// Theirs, and that of those that everything was planned for.
    var shapes: (own: FrameShape, first: FrameShape)?

    /// What scalers are told that stand before the last step: what goes in keeps its meaning all along, where no filter
    /// is there to change it.
    var scaling: [MetadataEntry] {
        let name =
            format.isRGB ? settings.matrix ?? usualMatrix : matrix ?? settings.sourceMatrix ?? usualMatrix
        let range = isFullRange ? "pc" : "tv"
        return Self.changesColor(settings.filters)
            ? Self.flags : Self.terms(from: range, to: range, matrix: name)
    }

    /// What becomes of frames in a chain of the user's filters.
    package static func trial(_ filters: FilterChain, of form: FrameForm, matrix: String) throws(AVError)
        -> FrameForm
    {
        // Most filters take a frame's time, and leave the meaning of its numbers but for RGB.
        if changesColor(filters) { return try FilterGraph.trial(filters.steps, of: form, scaling: flags) }
        let range = form.color.range ?? (form.format.isUsuallyFullRange ? "pc" : "tv")
        var after = try FilterGraph.form(
            after: filters.steps, of: form, scaling: terms(from: range, to: range, matrix: matrix))
        if after.format.isRGB {
            (after.color.matrix, after.color.range) = ("gbr", "pc")
        } else if form.format.isRGB {
            after.color.matrix = matrix
        }
        return after
    }

    /// Tries a change of primaries, transfer or matrix with a small frame: not all that has a name can be computed.
    package static func tryConversion(
        _ settings: VideoOutputSettings, from format: PixelFormat, _ color: ColorDescription,
        to target: PixelFormat
    ) throws(AVError) {
        var plain = VideoOutputSettings()
        (plain.color, plain.mapsTones, plain.matrix) = (settings.color, settings.mapsTones, settings.matrix)
        (plain.levels, plain.sourceMatrix) = (settings.levels, settings.sourceMatrix)
        let format = format.withoutRangeByName
        let isFullRange = color.range.map { $0 == "pc" } ?? format.isUsuallyFullRange
        var known = color
        known.range = isFullRange ? "pc" : "tv"
        known.matrix = color.matrix ?? settings.sourceMatrix
        let size = PixelSize(width: 64, height: 64)
        let chain = FrameFilterChain(
            settings: plain, size: size, format: format, isFullRange: isFullRange, matrix: known.matrix,
            wholeSize: nil, target: target)
        _ = try FilterGraph.trial(
            chain.steps,
            of: FrameForm(
                width: size.width, height: size.height, format: format, sampleAspectRatio: Rational(1, 1),
                color: known), scaling: chain.scaling)
    }

    /// Filters that say what numbers mean, and may say it anew.
    private static func changesColor(_ filters: FilterChain?) -> Bool {
        filters?.steps.contains { ["scale", "zscale", "colorspace", "tonemap"].contains($0.name) } == true
    }

    /// The chain.
    var steps: [FilterStep] {
        var steps = geometry
        if isConverting {
            if !convertsFirst { steps += conversion }
        } else if settings.size == nil, refitting == nil {
            steps.append(end)
        }
        return steps + [FilterStep("format", ["pix_fmts": "\(target)"])]
    }

    // MARK: Steps

    private var geometry: [FilterStep] {
        var steps: [FilterStep] = []
        switch settings.deinterlacing {
        case .off: break
        case .auto: steps.append(FilterStep("bwdif", ["mode": "send_frame", "deint": "interlaced"]))
        case .on: steps.append(FilterStep("bwdif", ["mode": "send_frame", "deint": "all"]))
        }
        if let crop = settings.crop {
            steps.append(
                FilterStep(
                    "crop",
                    [
                        "out_w": "\(crop.width)", "out_h": "\(crop.height)", "x": "\(crop.x)",
                        "y": "\(crop.y)",
                        "exact": "1",
                    ]))
        }
        if let turn = settings.turn { steps += turn.filters }
        if let filters = settings.filters { steps += filters.steps }
        if let refitting { return steps + refitting }
        guard let size = settings.size else { return steps }
        if isConverting, convertsFirst { steps += conversion }
        switch (settings.fit, settings.innerSize) {
        case (.contain, let inner?):
            steps += [.scale(to: inner, colors), FilterStep("setsar", ["sar": "1"]), .pad(to: size)]
        case (.cover, let inner?):
            steps += [.scale(to: inner, colors), FilterStep("setsar", ["sar": "1"]), .crop(to: size)]
        default: steps.append(.scale(to: size, colors))
        }
        return steps
    }

    /// What the first scaler is told.
    private var colors: [MetadataEntry] {
        convertsFirst
            ? Self.terms(from: wanted, to: wanted, matrix: nil) : terms(to: isConverting ? kept : wanted)
    }

    /// Colors are converted where there are fewer pixels of them: before frames become larger, and behind what makes them smaller.
    private var convertsFirst: Bool {
        guard isConverting, !isCrossing, refitting(colors: []) == nil,
            let box = settings.innerSize ?? settings.size
        else { return false }
        let own = settings.crop.map { $0.width * $0.height } ?? size.width * size.height
        return own < box.width * box.height
    }

    /// Frames whose shape is another one than what was planned for.
    private var refitting: [FilterStep]? { refitting(colors: colors) }

    private func refitting(colors: @autoclosure () -> [MetadataEntry]) -> [FilterStep]? {
        guard let box = settings.size ?? wholeSize, let shapes else { return nil }
        return shapes.own.steps(into: box, made: shapes.first, settings, colors: colors())
    }

    /// Steps through `zscale`, which goes to the target's format by itself.
    private var conversion: [FilterStep] {
        guard let color = settings.color else { return [] }
        // Packed RGB would be made YUV on the way there.
        let planes = [
            "gbrp", "gbrp9le", "gbrp10le", "gbrp12le", "gbrp14le", "gbrp16le", "gbrap", "gbrap10le",
            "gbrap12le",
            "gbrap16le",
        ]
        let before =
            inner.isRGB ? [FilterStep("format", ["pix_fmts": planes.joined(separator: "|")])] : []
        if settings.mapsTones { return before + color.toneMappingFilters }
        var target = color
        if isCrossing, inner.isRGB { target.matrix = settings.matrix }
        guard var step = target.conversionFilter else { return before }
        step.options.append(MetadataEntry(key: "range", value: wanted == "pc" ? "full" : "limited"))
        return before + [step]
    }

    /// The last scaler. Frames that change size in mid-stream come out in one; of those that don't, colour that becomes
    /// denser is made of the lines of one field, where frames say that they have two.
    private var end: FilterStep {
        guard let whole = wholeSize else { return FilterStep("scale", options: terms(to: wanted)) }
        let fields = MetadataEntry(key: "interl", value: "-1")
        return .scale(
            to: whole,
            (size == whole && size.height.isMultiple(of: 4) ? [fields] : []) + terms(to: wanted))
    }

    // MARK: What numbers mean

    private static let flags = [MetadataEntry(key: "flags", value: "bicubic")]

    /// How pixels are stored behind the user's filters, or where there are none.
    private var inner: PixelFormat { settings.filtered?.pixelFormat ?? format }

    /// Their range.
    private var kept: String {
        guard let filtered = settings.filtered else { return isFullRange ? "pc" : "tv" }
        return filtered.range ?? (filtered.pixelFormat.isUsuallyFullRange ? "pc" : "tv")
    }

    private var wanted: String {
        target.isFullRangeByName || target.isRGB ? "pc" : settings.levels ?? (inner.isRGB ? "tv" : kept)
    }

    /// RGB becomes YUV or the other way.
    private var isCrossing: Bool { inner.isRGB != target.isRGB }

    private var isConverting: Bool { settings.mapsTones || settings.color?.conversionFilter != nil }

    private var usualMatrix: String { ColorDescription.usualMatrix(width: size.width, height: size.height) }

    /// What the last scaler is told.
    private func terms(to range: String) -> [MetadataEntry] {
        guard isCrossing else { return Self.terms(from: kept, to: range, matrix: nil) }
        let own = settings.filtered == nil ? matrix : settings.filtered?.matrix
        return Self.terms(
            from: kept, to: range,
            matrix: inner.isRGB ? settings.matrix ?? usualMatrix : own ?? settings.sourceMatrix ?? usualMatrix
        )
    }

    private static func terms(from: String, to: String, matrix: String?) -> [MetadataEntry] {
        let ranges = [
            MetadataEntry(key: "in_range", value: from), MetadataEntry(key: "out_range", value: to),
        ]
        let matrices = ColorDescription.scaleName(ofMatrix: matrix).map {
            [
                MetadataEntry(key: "in_color_matrix", value: $0),
                MetadataEntry(key: "out_color_matrix", value: $0),
            ]
        }
        return flags + ranges + (matrices ?? [])
    }
}
