internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing

/// The planner of an image output: the frames that it contains, and the destination of each image.
struct ImagePlanner {
    let spec: ImagesSpec
    let output: OutputSpec
    let source: InputPlan.Source
    let description: SourceDescription
    let extent: PlannedExtent
    let track: TrackDescription
    /// Size of one image, in pixels.
    let size: PixelSize
    let destination: DestinationPath
    /// Location of the destination in the job file.
    let destinationLocation: SourceRange
    let prober: any SourceProber
    private var reasons = Reasons()

    init(
        spec: ImagesSpec, output: OutputSpec, source: InputPlan.Source, description: SourceDescription,
        extent: PlannedExtent, track: TrackDescription, size: PixelSize, destination: DestinationPath,
        at destinationLocation: SourceRange, prober: any SourceProber
    ) {
        self.spec = spec
        self.output = output
        self.source = source
        self.description = description
        self.extent = extent
        self.track = track
        self.size = size
        self.destination = destination
        self.destinationLocation = destinationLocation
        self.prober = prober
    }

    /// Maximum width and height, in pixels, that every still image format supports.
    private static let longestSide = 16_383

    /// Maximum number of keyframes or scenes of a source.
    private static let maxKeyframes = 100_000

    private var span: MediaTime { extent.span(of: description) }

    consuming func decide() -> Decision<ImagesPlan> {
        guard let times = times() else { return Decision(nil, reasons) }
        guard !times.isEmpty else {
            reasons.error(.invalidRange, "the range contains no keyframe", at: spec.location)
            return Decision(nil, reasons)
        }
        guard times.count <= ImagesSpec.maxImages else {
            reasons.error(
                .invalidValue,
                "\(times.count) still images are too many; an output has at most \(ImagesSpec.maxImages)",
                at: spec.location)
            return Decision(nil, reasons)
        }
        let sheet = sheet(of: times.count)
        let isSeveral = sheet == nil && spec.animation == nil
        let names = isSeveral ? names(of: times.map(\.time)) : nil
        let stills = times.enumerated().map { index, requested in
            ImagesPlan.Still(
                time: requested.time, sourceTime: sourceTime(of: requested.target),
                destination: names?[index].path)
        }
        let plan = ImagesPlan(
            stills: stills, tolerance: isOfKeyFrames ? .keyFrame : spec.tolerance,
            duration: span, sheet: sheet, animation: spec.animation?.value, location: spec.range)
        if let animation = spec.animation { checkPace(of: plan, animation) }
        return Decision(reasons.hasErrors ? nil : plan, reasons)
    }

    private var isOfKeyFrames: Bool { if case .keyFrames = spec.selection { true } else { false } }

    // MARK: Times

    /// A requested time on the output's time line, and the time at which its frame is searched.
    private struct RequestedImage {
        let time: MediaTime
        let target: MediaTime
        init(_ time: MediaTime, target: MediaTime? = nil) {
            (self.time, self.target) = (time, target ?? time)
        }
    }

    private mutating func times() -> [RequestedImage]? {
        switch spec.selection {
        case .at(let written):
            var found: [(location: SourceRange, requested: RequestedImage)] = []
            guard let frames = frames(of: written) else { return nil }
            for one in written {
                if case .frames(let number) = one.value {
                    if let requested = frames[number] { found.append((one.range, requested)) }
                } else if let time = time(of: one) {
                    found.append((one.range, RequestedImage(time)))
                }
            }
            guard found.count == written.count else { return nil }
            found.sort { $0.requested.time < $1.requested.time }
            for (earlier, later) in zip(found, found.dropFirst())
            where (output.namesEachImage || spec.animation != nil)
                && earlier.requested.time == later.requested.time
            {
                reasons.error(
                    .invalidValue, "duplicate time \(later.requested.time) s",
                    at: later.location,
                    notes: [Diagnostic.Note("the same time is here", at: earlier.location)])
                return nil
            }
            return found.map(\.requested)
        case .every(let step):
            var times = [RequestedImage(.zero)]
            while true {
                let next = step.value.multiplied(by: Int64(times.count), dividedBy: 1)
                guard next < span else { return times }
                times.append(RequestedImage(next))
                guard times.count > ImagesSpec.maxImages else { continue }
                reasons.error(
                    .invalidValue,
                    "one image every \(step.value) s of \(span) s gives more than \(ImagesSpec.maxImages) still images, the maximum of an output",
                    at: step.range)
                return nil
            }
        case .count(let count):
            let parts = Int64(count.value) * 2
            return (0..<Int64(count.value)).map {
                RequestedImage(span.multiplied(by: 2 * $0 + 1, dividedBy: parts))
            }
        case .keyFrames(let location):
            return found("keyframes", at: location) { prober, path, track throws(SourceProblem) in
                try prober.keyFrames(track, of: path, limit: Self.maxKeyframes)
            }?.map { RequestedImage($0) }
        case .scenes(let difference):
            let found = found("scenes", at: difference.range) { prober, path, track throws(SourceProblem) in
                try prober.scenes(
                    track, of: path, difference: difference.value, limit: Self.maxKeyframes)
            }
            guard let found else { return nil }
            // The start of a range is a scene change.
            var starts: Set<MediaTime> = [.zero]
            var begin = MediaTime.zero
            for range in extent.ranges {
                starts.insert(begin)
                begin = begin + range.duration
            }
            return starts.union(found).sorted().map { RequestedImage($0) }
        }
    }

    /// Returns the frames that are requested by number, counted in the ranges that are read; nil after an error if they
    /// can't be located. The target of each is the middle of the frame, because containers round timestamps.
    private mutating func frames(of written: [Located<TimeExpression>]) -> [Int64: RequestedImage]? {
        let numbers = written.compactMap { one in
            if case .frames(let number) = one.value { Located(number, at: one.range) } else { nil }
        }
        let locator = FrameLocator(track: track, source: source, prober: prober)
        guard let found = locator.positions(of: numbers, in: extent.ranges, into: &reasons.diagnostics)
        else { return nil }
        var images: [Int64: RequestedImage] = [:]
        for (number, position) in zip(numbers, found.positions) {
            guard let position else {
                FrameLocator.reportMissing(
                    number, of: found.count, in: extent.ranges, into: &reasons.diagnostics)
                continue
            }
            let length = max(.zero, (position.end ?? span) - position.start)
            let middle = position.start + length.multiplied(by: 1, dividedBy: 2)
            images[number.value] = RequestedImage(position.start, target: middle < span ? middle : nil)
        }
        return images
    }

    /// Returns a time relative to the range; nil after an error.
    private mutating func time(of written: Located<TimeExpression>) -> MediaTime? {
        var timeline = description
        timeline.duration = span
        if case .chapter(let number) = written.value, !extent.ranges.isEmpty,
            description.chapters.indices.contains(number - 1)
        {
            let start = description.chapters[number - 1].timeRange.start
            guard let time = outputTime(of: start) else {
                reasons.error(
                    .invalidRange, "chapter \(number) begins at \(start) s, outside the range",
                    at: written.range)
                return nil
            }
            return time
        }
        let resolver = RangeResolver(
            source: timeline, frames: FrameLocator(track: track, source: source, prober: prober))
        guard let time = resolver.time(written, into: &reasons.diagnostics) else { return nil }
        guard time <= span || time - span <= resolver.slack else {
            reasons.error(
                .invalidRange,
                "the time \(time) s is beyond the end: \(extent.ranges.isEmpty ? "the source" : "the range") lasts \(span) s",
                at: written.range, help: "use `at: end` for the last frame")
            return nil
        }
        return min(time, span)
    }

    /// Returns times that a scan of the source finds, on the output's time line; nil after an error.
    private mutating func found(
        _ what: String, at location: SourceRange,
        _ scan: (_ prober: any SourceProber, _ path: String, _ track: Int) throws(SourceProblem) ->
            [MediaTime]
    ) -> [MediaTime]? {
        guard case .file(let path, _) = source else {
            let whose =
                switch source {
                case .job(let id, _): "the output of \(id)"
                case .images: "images"
                case .composition: "a composition"
                case .file, .pattern: "a test signal"
                }
            reasons.error(
                .invalidValue, "the \(what) of \(whose) are not known when the job is planned", at: location,
                help: "use `every` or `count`, which select frames by time")
            return nil
        }
        do throws(SourceProblem) {
            let found = try scan(prober, path, track.index)
            guard found.count < Self.maxKeyframes else {
                reasons.error(
                    .invalidValue, "the source has \(Self.maxKeyframes) or more \(what), which is too many",
                    at: location,
                    help: "use `every` or `count`, which select frames by time")
                return nil
            }
            return extent.ranges.isEmpty ? found : found.compactMap { outputTime(of: $0) }.sorted()
        } catch {
            reasons.error(.sourceUnreadable, "\(path): \(error)", at: location)
            return nil
        }
    }

    /// Converts a time of the source to the output's time line; nil outside of the ranges that are read.
    private func outputTime(of time: MediaTime) -> MediaTime? {
        var begin = MediaTime.zero
        for range in extent.ranges {
            if time >= range.start, time < range.end { return begin + (time - range.start) }
            begin = begin + range.duration
        }
        return extent.ranges.isEmpty ? time : nil
    }

    /// Converts a time of the output to the source's time line. The end of the output is its last frame.
    private func sourceTime(of time: MediaTime) -> MediaTime {
        let tick = MediaTime(ticks: 1, timeBase: track.timeBase)
        var left = time
        for range in extent.ranges {
            if left < range.duration { return range.start + left }
            left = left - range.duration
        }
        if let last = extent.ranges.last { return max(last.start, last.end - tick) }
        switch source {
        case .pattern, .images, .composition: return time >= span ? max(.zero, span - tick) : time
        case .file, .job: return time
        }
    }

    /// Reports an error if an animation has a frame duration that its format doesn't support. Players extend frames
    /// that are too short to 0.1 s.
    private mutating func checkPace(of plan: ImagesPlan, _ animation: Located<AnimationFormat>) {
        let format = animation.value
        let (lengths, possible) = (plan.timing(as: format).lengths, format.lengths)
        // A single frame is shown indefinitely.
        guard lengths.count > 1 else { return }
        let isShort = lengths.contains { $0 < possible.lowerBound }
        guard isShort || lengths.contains(where: { $0 > possible.upperBound }) else { return }
        reasons.error(
            .invalidValue,
            "each image of an animated \(format.rawValue) must be shown for "
                + (isShort
                    ? "at least \(possible.lowerBound) s; players slow down shorter ones"
                    : "at most \(possible.upperBound) s"),
            at: spec.location, notes: [Diagnostic.Note("`animation` is here", at: animation.range)])
    }

    // MARK: Files

    private mutating func sheet(of count: Int) -> ImagesPlan.Sheet? {
        guard let sheet = spec.sheet else { return nil }
        let rows = sheet.rows?.value ?? (count + sheet.columns - 1) / sheet.columns
        if count > rows * sheet.columns {
            reasons.error(
                .invalidValue,
                "\(count) still images don't fit into \(sheet.columns) columns and \(rows) rows",
                at: spec.location,
                notes: [Diagnostic.Note("the sheet is here", at: sheet.rows?.range ?? sheet.range)])
        }
        let columns = sheet.rows == nil ? min(sheet.columns, max(1, count)) : sheet.columns
        let whole = PixelSize(width: columns * size.width, height: rows * size.height)
        if max(whole.width, whole.height) > Self.longestSide {
            reasons.error(
                .codecSetting,
                "the sheet would be \(whole); width and height are at most \(Self.longestSide)",
                at: sheet.range,
                help: "set a smaller `size`")
        }
        var index: String?
        if let location = sheet.index {
            index = named(destination.stem + ".vtt", at: location)?.path
        }
        return ImagesPlan.Sheet(columns: columns, rows: rows, index: index)
    }

    private mutating func named(_ name: some StringProtocol, at location: SourceRange) -> DestinationPath? {
        guard name.utf8.count <= 255 else {
            reasons.error(
                .invalidValue,
                "the file name has \(name.utf8.count) bytes; at most 255 are allowed",
                at: location)
            return nil
        }
        return destination.sibling(String(name))
    }

    /// Returns the file of each still image; nil if there is a single destination, or after an error.
    private mutating func names(of times: [MediaTime]) -> [DestinationPath]? {
        guard output.namesEachImage else {
            // The number of keyframes, and of images at an interval, is known only with the source.
            if times.count > 1 {
                reasons.error(
                    .missingKey, "the destination is one file for \(times.count) still images",
                    at: destinationLocation,
                    help: "use `\(ImagesSpec.Placeholder.number)` in the name, or `sheet`")
            }
            return nil
        }
        let location = destinationLocation
        let pattern = destination.path.pathParts.last ?? ""
        var seen: [ExactString: MediaTime] = [:]
        var names: [DestinationPath] = []
        for (index, time) in times.enumerated() {
            let number = ClockText.padded(index + 1, to: 4)
            let name = pattern.replacing(ImagesSpec.Placeholder.number, with: number)
                .replacing(
                    // File names in this format are valid on all file systems and in players.
                    ImagesSpec.Placeholder.time, with: ClockText(time, roundsDown: true).text("-"))
            if let other = seen.updateValue(time, forKey: name.exact) {
                reasons.error(
                    .destinationCollision,
                    "the images at \(other) s and \(time) s have the same file name: \(name)", at: location,
                    help: "use `\(ImagesSpec.Placeholder.number)` for unique names")
                return nil
            }
            guard let path = named(name, at: location) else { return nil }
            names.append(path)
        }
        return names
    }
}

extension OutputPlanner {
    mutating func stills(_ spec: ImagesSpec, of tracks: [TrackPlan], _ extent: PlannedExtent)
        -> ImagesPlan?
    {
        guard let track = tracks.first, case .encode(let encoding) = track.action else { return nil }
        return reasons.take(
            ImagePlanner(
                spec: spec, output: output, source: source, description: description, extent: extent,
                track: track.source,
                size: PixelSize(width: encoding.encoder.width, height: encoding.encoder.height),
                destination: destination, at: written.path.range, prober: prober
            ).decide())
    }
}
