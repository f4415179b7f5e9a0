package import Diagnostics
package import LibAV
package import Media

/// Conditions on the source of a job, all of which must hold (`when`).
package struct SourceCondition: Sendable {
    /// A condition of the mapping.
    package enum Test: Sendable {
        /// A condition on a property of the source as a whole.
        case source(FactTest<SourceFact>)
        /// A condition on the number of tracks with some properties.
        case tracks(TrackCount)
        /// Conditions that must not all hold.
        indirect case not(SourceCondition)
    }
    /// Conditions in the order of the job file; at least one.
    package var tests: [Test]
    /// Location of the conditions in the job file.
    package var range: SourceRange

    /// Keys of the tested facts that only media files have.
    var fileFacts: [String] {
        tests.flatMap { test in
            switch test {
            case .source(let test): test.fact == .duration ? [] : [test.fact.rawValue]
            case .tracks(let count): count.condition.fileFacts
            case .not(let inner): inner.fileFacts
            }
        }
    }

    /// Whether the result depends on the source's duration.
    package var usesDuration: Bool {
        tests.contains { test in
            switch test {
            case .source(let test): test.fact == .duration || test.fact == .bitRate
            case .tracks: false
            case .not(let inner): inner.usesDuration
            }
        }
    }
}

/// A condition on the number of tracks of a type that meet other conditions.
package struct TrackCount: Sendable {
    package var mediaType: MediaType
    /// Conditions on each counted track; without tests, every track of the type counts.
    package var condition: TrackCondition
    /// Required number of tracks; nil for at least one.
    package var count: FactRequirement?
}

/// Conditions on one track, all of which must hold (`copy: { where: … }`).
package struct TrackCondition: Sendable {
    /// A condition of the mapping.
    package enum Test: Sendable {
        case fact(FactTest<TrackFact>)
        /// Conditions that must not all hold.
        indirect case not(TrackCondition)
    }
    /// Conditions in the order of the job file.
    package var tests: [Test]
    /// Location of the conditions in the job file.
    package var range: SourceRange

    /// Keys of the tested facts that only tracks of media files have.
    var fileFacts: [String] {
        tests.flatMap { test in
            switch test {
            case .fact(let test):
                [.codec, .profile, .bitRate].contains(test.fact) ? [test.fact.rawValue] : []
            case .not(let inner): inner.fileFacts
            }
        }
    }
}

/// A condition on the value of a fact.
package struct FactTest<Fact: Sendable>: Sendable {
    package var fact: Fact
    package var requirement: FactRequirement
}

/// A property of a source as a whole, by its key in conditions.
package enum SourceFact: String, CaseIterable, Sendable {
    case duration
    /// Size of the file in bytes.
    case size
    /// Size of the file divided by its duration, in bits per second.
    case bitRate = "bit_rate"
    /// Names of the container format.
    case container
}

/// A property of a track, by its key in conditions.
package enum TrackFact: String, CaseIterable, Sendable {
    case codec
    case profile
    case width
    case height
    case frameRate = "frame_rate"
    case bitRate = "bit_rate"
    case pixelFormat = "pixel_format"
    /// Whether the transfer function is PQ or HLG, or the track has Dolby Vision metadata.
    case hdr
    case interlaced
    /// Clockwise rotation for display in degrees.
    case rotation
    /// Number of channels.
    case channels
    case sampleRate = "sample_rate"
    case language
}

/// The value of a fact.
package enum FactValue: Sendable {
    case name(String)
    /// Several names of the same thing, such as those of a container format.
    case names([String])
    case number(Int64)
    /// A number of frames per second.
    case rate(Rational)
    case time(MediaTime)
    case flag(Bool)

    /// Returns whether the value is less than another of the same type.
    fileprivate func isLess(than other: FactValue) -> Bool {
        switch (self, other) {
        case (.number(let own), .number(let other)): own < other
        case (.rate(let own), .rate(let other)):
            Int64(own.num) * Int64(other.den) < Int64(other.num) * Int64(own.den)
        case (.time(let own), .time(let other)): own < other
        default: false
        }
    }

    /// Returns whether a value of a source equals a required one.
    fileprivate func equals(_ required: FactValue) -> Bool {
        switch (self, required) {
        case (.name(let own), .name(let required)): own == required
        case (.names(let own), .name(let required)): own.contains(required)
        case (.flag(let own), .flag(let required)): own == required
        case (.number, .number), (.rate, .rate), (.time, .time):
            !isLess(than: required) && !required.isLess(than: self)
        default: false
        }
    }
}

/// The values that a condition accepts.
package enum FactRequirement: Sendable {
    /// A value of a job file, as written there.
    package struct Value: Sendable {
        package var value: FactValue
        package var text: String
    }
    /// Accepted values; at least one.
    case oneOf([Value])
    /// A value between two bounds, inclusively. At most one bound is nil.
    case between(min: Value?, max: Value?)

    /// A number of at least one.
    package static let atLeastOne = FactRequirement.between(
        min: Value(value: .number(1), text: "1"), max: nil)

    package func accepts(_ value: FactValue) -> Bool {
        switch self {
        case .oneOf(let values): values.contains { value.equals($0.value) }
        case .between(let min, let max):
            !(min.map { value.isLess(than: $0.value) } ?? false)
                && !(max.map { $0.value.isLess(than: value) } ?? false)
        }
    }

    /// The accepted values for messages, such as "h264 or hevc", or "at least 720".
    package var text: String {
        switch self {
        case .oneOf(let values):
            let texts = values.map(\.text)
            guard let last = texts.last, texts.count > 1 else { return texts.first ?? "" }
            return "\(texts.dropLast().joined(separator: ", ")) or \(last)"
        case .between(let min?, let max?): return "from \(min.text) to \(max.text)"
        case .between(let min?, nil): return "at least \(min.text)"
        case .between(nil, let max?): return "at most \(max.text)"
        case .between(nil, nil): return "any"
        }
    }
}
