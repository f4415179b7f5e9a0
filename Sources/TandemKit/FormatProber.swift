internal import JobPlan
internal import LibAV
internal import Media

/// A prober that describes a source by a format, without a file, for the settings of generated media.
struct FormatProber: SourceProber {
    /// The source's location, which is never opened. Only for URLs a plan doesn't require a file.
    static let location = "https://localhost/source"

    let environment = SourceEnvironment(allowsNetwork: true)
    let trials = SettingsValidationCache()
    private let description: SourceDescription?

    /// Describes frames with a format.
    init(video format: FormatDescription, frameDuration: MediaTime) {
        let rate = Rational(ofFrames: frameDuration)
        description = Self.description { track in
            guard track.mediaType == .video else { return false }
            (track.width, track.height) = (format.width, format.height)
            track.pixelFormat = format.pixelFormat
            track.pixelAspectRatio = format.pixelAspectRatio
            track.color = format.color
            track.isInterlaced = format.isInterlaced == true
            track.fieldOrder = format.fieldOrder
            track.frameRate = rate
            return true
        }
    }

    /// Describes audio with a format.
    init(audio format: FormatDescription) {
        description = Self.description { track in
            guard track.mediaType == .audio else { return false }
            track.sampleRate = format.sampleRate
            track.timeBase = Rational(1, max(1, format.sampleRate))
            track.sampleFormat = format.sampleFormat
            track.channelLayout = format.channelLayout
            return true
        }
    }

    /// Returns the description of a test pattern with the tracks that `change` keeps.
    private static func description(_ change: (inout TrackDescription) -> Bool) -> SourceDescription? {
        let pattern = TestPattern(
            name: "black", width: 64, height: 64, frameRate: Rational(25, 1),
            duration: MediaTime(value: 10, timescale: 1), toneFrequency: 440)
        guard let contents = try? pattern.contents() else { return nil }
        var description = SourceDescription(contents)
        description.tracks = description.tracks.compactMap { track in
            var track = track
            return change(&track) ? track : nil
        }
        return description
    }

    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        switch request.subject {
        case .description:
            guard let description else { throw SourceProblem("the format can't be described") }
            return .description(description)
        case .trial(let trial): return .verdict(trial.run())
        default: throw SourceProblem("a format has no packets")
        }
    }
}

extension Rational {
    /// Creates the rate of frames with a duration, reduced; the nearest one if its terms exceed 32 bits.
    fileprivate init(ofFrames duration: MediaTime) {
        let reduced = duration.reduced
        var (num, den) = (Int64(reduced.timescale), max(1, reduced.value))
        while num > Int32.max || den > Int32.max { (num, den) = (max(1, num / 2), max(1, den / 2)) }
        self.init(Int32(num), Int32(den))
    }
}
