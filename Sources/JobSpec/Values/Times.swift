package import Media

/// The syntax of times and durations.
extension Language {
    /// Hours, minutes and seconds, or minutes and seconds.
    private static let clockPattern = #"([0-9]{1,6}:[0-9]{1,2}|[0-9]{1,6}):[0-9]{1,2}(\.[0-9]+)?"#
    /// Seconds or milliseconds, or a time in clock notation.
    private static let absolutePattern = #"[0-9]+(\.[0-9]+)?(s|ms)?|"# + clockPattern
    /// The maximum number of seconds.
    private static let maxSeconds = TimeExpression.maxSeconds

    /// A position in a source, or a duration that may depend on the source.
    static let time = ValueSyntax(
        [
            .number(-maxSeconds...maxSeconds),
            .text(
                pattern:
                    #"^(end|chapter:0*[1-9][0-9]*|[0-9]+f|[0-9]+(\.[0-9]+)?%|-?[0-9]+(\.[0-9]+)?(s|ms)?|-?"#
                    + clockPattern + ")$", example: "1:30.5"),
        ],
        refusal: { text, what in InvalidValue(text, of: what, expected: timeHint(text, isLength: false)) },
        parser: { TimeExpression($0) })

    /// The bounds of a duration, in seconds.
    struct DurationBounds {
        let range: ClosedRange<Double>

        /// Returns a bound as text, such as `0.5 s` or `a day`.
        private static func text(_ bound: Double) -> String {
            switch bound {
            case 86_400: "a day"
            case 3600: "an hour"
            default: ScalarForm.text(bound) + " s"
            }
        }
        var lower: String { Self.text(range.lowerBound) }
        var upper: String { Self.text(range.upperBound) }

        var times: ClosedRange<MediaTime> {
            func exact(_ seconds: Double) -> MediaTime {
                MediaTime(value: Int64(seconds * 1000), timescale: 1000)
            }
            return exact(range.lowerBound)...exact(range.upperBound)
        }

        func contains(_ time: MediaTime) -> Bool { times.contains(time) }
    }
    private static let anyDuration = DurationBounds(range: 0...maxSeconds)
    /// Durations greater than 0.
    private static let positiveDurations = DurationBounds(range: 0.001...maxSeconds)
    /// Durations of images, gaps and generated sources.
    static let upToADay = DurationBounds(range: 0.001...86_400)
    /// Positions in a clip, and distances in time.
    static let withinADay = DurationBounds(range: 0...86_400)
    /// Durations of transitions.
    static let upToAnHour = DurationBounds(range: 0.001...3600)
    /// Durations of the fragments of a file.
    static let fragmentDurations = DurationBounds(range: 0.1...60)
    /// Durations of the segments of a package.
    static let segmentDurations = DurationBounds(range: 1...60)

    /// Any duration in seconds or in clock notation.
    static let length = length(anyDuration, expected: "must be a time such as 90.5, 40ms or 1:40.4")
    /// The duration after which a job fails.
    static let timeout = length(
        positiveDurations, expected: "must be a time greater than 0, such as 90 or 10:00")

    /// The time after which a file that doesn't change is complete (`tandem watch`).
    package static let settlingTime = length(
        DurationBounds(range: 0.1...3600), expected: "must be a time such as 5s or 1:00")

    /// Returns the syntax of a duration in seconds or in clock notation. Frames, percentages and chapters are positions in
    /// a source.
    static func length(_ bounds: DurationBounds, suchAs examples: String) -> ValueSyntax<MediaTime> {
        length(
            bounds, expected: "must be a time from \(bounds.lower) to \(bounds.upper), such as \(examples)")
    }

    private static func length(_ bounds: DurationBounds, expected: String) -> ValueSyntax<MediaTime> {
        ValueSyntax(
            [
                .number(bounds.range),
                .text(pattern: "^(" + absolutePattern + ")$", example: "2s"),
            ],
            refusal: { text, what in
                TimeExpression(text) == nil
                    ? InvalidValue(text, of: what, expected: timeHint(text, isLength: true))
                    : InvalidValue(message: "\(what) \(expected)")
            },
            parser: { text in
                guard case .absolute(let time)? = TimeExpression(text), bounds.contains(time) else {
                    return nil
                }
                return time
            })
    }

    /// Returns the expected syntax of times, or a hint for a common mistake in `text`. With `isLength`, it is a duration,
    /// and the hint omits the syntax of positions in a source.
    private static func timeHint(_ text: String, isLength: Bool) -> String {
        let number = text.prefix { $0.isNumber || $0 == "." }
        let unit = text.dropFirst(number.count).trimmingPrefix(" ").lowercased()
        // Another unit may follow: `1m30s`.
        let name = unit.prefix { $0.isLetter }
        if !number.isEmpty,
            ["m", "min", "mins", "minute", "minutes", "h", "hr", "hour", "hours"].contains(name)
        {
            return "write minutes and hours as 10:00 and 1:00:00"
        }
        if !text.isEmpty, text.allSatisfy({ $0.isNumber || ":.;".contains($0) }) {
            if text.split(whereSeparator: { ":;".contains($0) }).count == 4 {
                return "times have no frames field (hh:mm:ss:ff); write "
                    + (isLength
                        ? "seconds, such as `1.48s`"
                        : "the frame, such as `37f`, or seconds, such as `1.48s`")
            }
            return text.contains(":")
                ? "minutes and seconds after a `:` must be less than 60"
                : "the time is too long"
        }
        let expected = "expected a time such as 90.5, 1500ms or 1:30.5"
        return isLength ? expected : expected + "; ranges also accept 250f, 25%, -5s, end and chapter:2"
    }

    // MARK: Keyframes

    /// The maximum distance of keyframes: a number of frames with or without a unit, or a duration with a unit or in clock
    /// notation.
    static let keyframeInterval = ValueSyntax(
        [
            .integer(keyframeDistances),
            .text(
                pattern: #"^([0-9]+f|[0-9]+(\.[0-9]+)?(s|ms)|"# + clockPattern + ")$", example: "2s"),
        ], expected: "expected a number of frames (250) or a time (2s, 1500ms, 50f)"
    ) { text -> KeyframeInterval? in
        if let frames = Quantity.integer(text) {
            return keyframeDistances.contains(frames) ? .frames(frames) : nil
        }
        // A number without a unit is a number of frames, which must be an integer.
        if Quantity.number(text) != nil { return nil }
        switch TimeExpression(text) {
        case .frames(let frames):
            return Int(exactly: frames).flatMap { keyframeDistances.contains($0) ? .frames($0) : nil }
        case .absolute(let time):
            return time > .zero && time <= MediaTime(value: 3600, timescale: 1) ? .time(time) : nil
        default: return nil
        }
    }
    private static let keyframeDistances = 1...100_000

    // MARK: Time line of a composition

    /// A position on a composition's time line: a time, or an anchor such as `talk.start+2s`.
    static let anchor = ValueSyntax(
        [
            .number(0...maxSeconds),
            .text(
                pattern: #"^((start|end|\#(Identifier.pattern)\.(start|end))([+-](\#(absolutePattern)))?|"#
                    + absolutePattern + ")$", example: "talk.start+2s"),
        ],
        expected:
            "expected a time such as 2s, `start`, `end`, or the start or end of an id such as talk.end-1s",
        parser: { CompositionSpec.Anchor($0) })
}

extension CompositionSpec.Anchor {
    /// Parses `2s`, `start+1s`, `end`, `talk.end-1s` and similar; nil for other texts.
    fileprivate init?(_ text: String) {
        func time(_ text: Substring) -> MediaTime? {
            if case .absolute(let time)? = TimeExpression(String(text)) { time } else { nil }
        }
        if let time = time(text[...]) {
            self.init(base: .start, offset: time)
            return
        }
        // An id may contain a `-`; only the part after `.start` or `.end` is an offset.
        for word in [".start", ".end", "start", "end"] {
            guard let found = text.firstRange(of: word) else { continue }
            let (name, rest) = (text[..<found.lowerBound], text[found.upperBound...])
            guard word.hasPrefix(".") != name.isEmpty,
                name.isEmpty || Identifier.isValid(String(name))
            else { continue }
            var offset = MediaTime.zero
            if let sign = rest.first {
                guard "+-".contains(sign), let by = time(rest.dropFirst()) else { return nil }
                offset = sign == "-" ? .zero - by : by
            }
            let isEnd = word.hasSuffix("end")
            self.init(
                base: name.isEmpty ? (isEnd ? .end : .start) : .item(String(name), isEnd: isEnd),
                offset: offset)
            return
        }
        return nil
    }
}
