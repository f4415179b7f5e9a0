internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of the processing of frames before scaling: deinterlacing, crop, rotation and filters.
struct FramePlanner {
    let spec: VideoEncodeSpec
    let track: TrackDescription
    let prober: any SourceProber
    /// Path of the media file whose black borders `crop: auto` removes; nil for other sources.
    var path: String?

    /// Properties of frames after these steps, and the settings of the steps.
    struct Prepared {
        var settings = VideoOutputSettings()
        var size: PixelSize
        /// Pixel aspect ratio; nil if unknown.
        var aspect: Rational?
        /// The display matrix that the output keeps.
        var transform: DisplayTransform?
        var isInterlaced: Bool
        /// Color properties after these steps.
        var color: ColorDescription
        var format: PixelFormat
    }

    func decide() -> Decision<Prepared> {
        var prepared = Prepared(
            size: PixelSize(width: track.width, height: track.height), aspect: track.pixelAspectRatio,
            transform: track.transform, isInterlaced: track.isInterlaced, color: track.color,
            format: track.pixelFormat)
        var reasons = Reasons()
        let deinterlacing =
            spec.deinterlace?.value ?? (Self.moves(spec, track) || losesFields ? .auto : .off)
        if deinterlacing == .on || deinterlacing == .auto && track.isInterlaced {
            prepared.settings.deinterlacing = deinterlacing
            prepared.isInterlaced = false
        }
        prepared.settings.deinterlacesLateFields = deinterlacing == .auto && !track.isInterlaced
        guard crop(&prepared, &reasons), rotate(&prepared, &reasons), filter(&prepared, &reasons) else {
            return Decision(nil, reasons)
        }
        prepared.settings.mapsTones = mapsTones(prepared.color)
        return Decision(checkToneMapping(prepared, &reasons) ? prepared : nil, reasons)
    }

    /// Whether interlaced frames in a progressive track would be encoded as progressive.
    private var losesFields: Bool {
        if track.isInterlaced { return false }
        if spec.codec.value.isStill { return true }
        guard spec.codec.value.frames.fields == .coded, !spec.codec.value.isLossless else { return false }
        if case .lossless? = spec.rateControl?.value { return false }
        return true
    }

    /// Returns whether scaling, cropping or rotation would mix the lines of the two fields.
    static func moves(_ spec: VideoEncodeSpec, _ track: TrackDescription) -> Bool {
        let isRotated =
            switch spec.orientation?.value {
            case nil, .keep: false
            case .bake: track.transform?.isIdentity == false
            case .angle(let degrees): degrees != 0
            }
        return spec.size != nil || spec.crop != nil || isRotated
    }

    /// Returns the spec without color settings that apply only to HDR, if the track is SDR, or if its color properties
    /// are insufficient for tone mapping.
    static func resolved(_ spec: VideoEncodeSpec, for track: TrackDescription) -> VideoEncodeSpec {
        guard spec.color?.isForHighRangeAlone == true,
            !track.color.isHighRange || lacksToneMappingColor(track)
        else { return spec }
        var spec = spec
        spec.color = nil
        return spec
    }

    /// Returns whether the track is HDR without the primaries or the matrix that tone mapping requires.
    static func lacksToneMappingColor(_ track: TrackDescription) -> Bool {
        track.color.isHighRange && (track.color.primaries == nil || track.color.matrix == nil)
    }

    /// Returns whether HDR is converted to SDR. A change of the transfer function alone would clip most of
    /// the frame to white.
    private func mapsTones(_ color: ColorDescription) -> Bool {
        guard let transfer = spec.color?.transfer?.value else { return false }
        return color.isHighRange && !ColorDescription.isHighRange(transfer)
    }

    /// Reports an error if the source lacks the primaries or the matrix that tone mapping requires.
    private func checkToneMapping(_ prepared: Prepared, _ reasons: inout Reasons) -> Bool {
        guard prepared.settings.mapsTones, prepared.color.primaries == nil || prepared.color.matrix == nil
        else {
            return true
        }
        reasons.error(
            .codecSetting,
            "tone mapping requires primaries and matrix, which the HDR source doesn't state",
            at: spec.color?.transfer?.range ?? spec.range)
        return false
    }

    /// Returns the rectangle of `crop: auto`; nil if the frame isn't cropped, and after an error.
    private func activeArea(at location: SourceRange, _ reasons: inout Reasons) -> PixelRectangle? {
        guard let path else {
            reasons.error(
                .codecSetting, "`crop: auto` requires a media file that exists when the job is planned",
                at: location, help: "write a rectangle as `{ x: 0, y: 0, width: 640, height: 360 }`")
            return nil
        }
        do throws(SourceProblem) {
            if let area = try prober.activeArea(track.index, of: path) {
                let whole = PixelRectangle(x: 0, y: 0, width: track.width, height: track.height)
                if area == whole { reasons.note("`crop: auto`: \(track.label) has no black borders") }
                return area
            }
            reasons.note("`crop: auto`: \(track.label) is not cropped: all examined frames are black")
        } catch {
            reasons.error(.sourceUnreadable, "\(path): \(error)", at: location)
        }
        return nil
    }

    private func crop(_ prepared: inout Prepared, _ reasons: inout Reasons) -> Bool {
        defer {
            if track.cleanAperture != nil {
                let isCropped = prepared.settings.crop != nil
                reasons.account(
                    for: .cleanAperture, of: track.index, isCropped ? .encoded : .dropped,
                    isCropped ? "the frame is cropped" : CopyLosses.aperture)
            }
        }
        guard let crop = spec.crop else { return true }
        let rectangle: PixelRectangle
        switch crop.value {
        case .rectangle(let given): rectangle = given
        case .auto:
            guard let found = activeArea(at: crop.range, &reasons) else { return !reasons.hasErrors }
            rectangle = found
        case .cleanAperture:
            guard let aperture = track.cleanAperture else {
                reasons.error(.codecSetting, "the source has no clean aperture to crop to", at: crop.range)
                return false
            }
            rectangle =
                aperture.rectangle(in: prepared.size) ?? PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        }
        guard rectangle.x >= 0, rectangle.y >= 0, rectangle.width > 0, rectangle.height > 0,
            rectangle.x + rectangle.width <= prepared.size.width,
            rectangle.y + rectangle.height <= prepared.size.height
        else {
            reasons.error(
                .codecSetting, "the crop rectangle exceeds the frame, which is \(prepared.size)",
                at: crop.range)
            return false
        }
        let unit = track.pixelFormat.chromaSubsampling
        if case .rectangle = crop.value,
            !(rectangle.x.isMultiple(of: unit.x) && rectangle.width.isMultiple(of: unit.x)
                && rectangle.y.isMultiple(of: unit.y) && rectangle.height.isMultiple(of: unit.y))
        {
            reasons.error(
                .codecSetting,
                "the crop rectangle must be aligned to chroma samples of \(track.pixelFormat), each of which covers \(unit.x)x\(unit.y) pixels",
                at: crop.range,
                help: "use multiples of \(unit.x) for `x` and `width`, of \(unit.y) for `y` and `height`")
            return false
        }
        if rectangle.width < prepared.size.width || rectangle.height < prepared.size.height {
            prepared.settings.crop = rectangle
            prepared.size = PixelSize(width: rectangle.width, height: rectangle.height)
        }
        return true
    }

    private func rotate(_ prepared: inout Prepared, _ reasons: inout Reasons) -> Bool {
        defer {
            if track.transform?.isIdentity == false {
                let (outcome, reason): (LedgerEntry.Outcome, String) =
                    prepared.transform == track.transform
                    ? (.copied, "kept")
                    : prepared.settings.turn != nil
                        ? (.encoded, "the frame is rotated") : (.dropped, "replaced by the job's rotation")
                reasons.account(for: .displayMatrix, of: track.index, outcome, reason)
            }
        }
        guard let orientation = spec.orientation else { return true }
        let rotation: FrameRotation
        switch orientation.value {
        case .keep: return true
        case .angle(let degrees): rotation = FrameRotation(clockwiseDegrees: degrees)
        case .bake:
            guard let transform = track.transform else { return true }
            guard let baked = transform.rotation else {
                reasons.error(
                    .codecSetting,
                    "`orientation: bake` requires a rotation by a multiple of 90 degrees, which the source's is not",
                    at: orientation.range)
                return false
            }
            rotation = baked
        }
        prepared.transform = nil
        if rotation.isNone { return true }
        prepared.settings.turn = rotation
        if rotation.isQuarter {
            prepared.size = PixelSize(width: prepared.size.height, height: prepared.size.width)
            prepared.aspect = prepared.aspect?.inverted
        }
        return true
    }

    /// Determines the size and color properties after the filters from libavfilter. Returns false after an error.
    private func filter(_ prepared: inout Prepared, _ reasons: inout Reasons) -> Bool {
        guard let filters = spec.filters else { return true }
        prepared.settings.filters = filters.value
        var color = track.color
        // The reader assumes the same defaults for frames that state no range.
        color.range = color.range ?? track.pixelFormat.defaultRange
        let defaultMatrix = ColorDescription.defaultMatrix(width: track.width, height: track.height)
        let format = FrameFormat(
            width: prepared.size.width, height: prepared.size.height,
            format: track.pixelFormat.withoutRangeByName,
            sampleAspectRatio: prepared.aspect ?? Rational(0, 1), color: color)
        let matrix = track.pixelFormat.isRGB ? defaultMatrix : track.color.matrix ?? defaultMatrix
        let after: FrameFormat
        switch prober.verdict(on: .filtered(filters.value, format, matrix: matrix)) {
        case .outputs(let found): after = found
        case .valid, .ignored: after = format
        case .problem(let problem):
            reasons.error(
                .filterChain, "the filters are invalid for frames of \(prepared.size): \(problem)",
                at: filters.range)
            return false
        }
        let sides = 1...PixelSize.maxSide
        guard sides.contains(after.width), sides.contains(after.height) else {
            reasons.error(
                .filterChain,
                "the filters produce frames of \(after.width)x\(after.height); width and height are at most \(sides.upperBound)",
                at: filters.range)
            return false
        }
        prepared.size = PixelSize(width: after.width, height: after.height)
        prepared.aspect = after.sampleAspectRatio.isPositive ? after.sampleAspectRatio : nil
        prepared.settings.filtered = FilteredFrames(
            pixelFormat: after.format, range: after.color.range, matrix: after.color.matrix)
        let isUntouched = track.color.range == nil && after.color.range == color.range
        prepared.format = after.format
        prepared.color = after.color
        prepared.color.chromaLocation = track.color.chromaLocation
        if isUntouched { prepared.color.range = nil }
        return true
    }

    /// Checks the resolved settings: sizes that the pixel format doesn't support, and color conversions that are not
    /// supported.
    static func check(
        _ encoding: TrackPlan.Encoding, of prepared: Prepared, _ spec: VideoEncodeSpec,
        prober: any SourceProber, _ reasons: inout Reasons
    ) -> Bool {
        let (encoder, fit) = (encoding.encoder, spec.resolvedFit)
        if let size = spec.size, fit != .inside, fit != .scaleDown,
            size.value.width ?? encoder.width != encoder.width
                || size.value.height ?? encoder.height != encoder.height
        {
            let step = encoder.pixelFormat.chromaSubsampling
            reasons.error(
                .codecSetting,
                "\(encoder.pixelFormat) requires a width that is a multiple of \(step.x), and a height that is a multiple of \(step.y)",
                at: size.range, help: "the closest size is \(encoder.width)x\(encoder.height)")
            return false
        }
        guard let video = encoding.video, let color = video.color else { return true }
        let target = video.pixelFormat ?? encoder.pixelFormat
        guard
            let problem = prober.problem(
                with: .conversion(video, from: prepared.format, prepared.color, to: target))
        else { return true }
        let requested = [color.primaries, color.transfer, color.matrix].compactMap(\.self)
        reasons.error(
            .codecSetting,
            "libzimg can't convert the colors (\(requested.joined(separator: ", "))) of this source: \(problem)",
            at: spec.color?.range ?? spec.range)
        return false
    }
}
