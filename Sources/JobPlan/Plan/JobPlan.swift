public import Diagnostics
internal import ExactStrings
public import JobSpec
public import LibAV
public import Media

/// Everything that will happen to one job: a value. Printing it is `tandem plan`; a run carries it out and
/// decides nothing anew.
public struct JobPlan: Codable, Hashable, Sendable {
    /// Where media come from.
    public enum Source: Codable, Hashable, Sendable {
        /// A file by its absolute path or its URL, as it was when the plan was made.
        case file(path: String, identity: FileIdentity)
        /// A test signal.
        case pattern(TestPattern)
        /// What another job of the batch publishes, at an absolute path.
        case job(id: String, path: String)
    }

    /// The job's id.
    public var id: String
    /// The job's id as the file has it, without what tells this run from its others.
    public var base: String
    /// Jobs that must have succeeded first, by the ids that the file has.
    public var needs: [String]
    /// The job file as the user named it.
    public var file: String
    /// The job's place in the file.
    public var location: SourceRange
    /// Where media come from.
    public var source: Source
    /// How times are found out.
    public var timing: AssetTiming
    /// What the source is; foretold where another job makes it.
    public var sourceDescription: SourceDescription
    /// The stretch that is read; nil for all.
    public var range: TimeRange?
    /// Several stretches that are read instead, joined end to end in this order.
    public var joinedRanges: [TimeRange]
    /// The stretch that was asked for, where another is read.
    public var requestedRange: TimeRange?
    /// What becomes of damaged data.
    public var damagePolicy: DamagePolicy
    /// Where the range was written.
    public var rangeLocation: SourceRange?
    /// How it is cut, where the job says.
    public var cut: CutMode?
    /// The container's name.
    public var container: String
    /// The index goes to the front.
    public var optimizesForNetwork: Bool
    /// How long the file's fragments are; nil for a file in one piece.
    public var fragmentInterval: MediaTime?
    /// The output's tags.
    public var metadata: [MetadataEntry]
    /// The keys among them that the job sets, in lower case: without them there is no output, without a source's own a
    /// warning.
    public var askedTags: [String] = []
    /// The output's file is as old as the source's.
    public var keepsFileTimes = false
    /// The output's chapters.
    public var chapters: [AssetChapter]
    /// Covers that go along, by their tracks in the source.
    public var covers: [Int]
    /// Files that go along, by their tracks in the source.
    public var attachments: [Int]
    /// The absolute path of the output.
    public var destination: String
    /// Where the destination was written.
    public var destinationLocation: SourceRange
    /// What happens to somebody else's file there.
    public var ifExists: IfExists
    /// Missing folders are made.
    public var makesDirectories: Bool
    /// The output's tracks in order.
    public var tracks: [TrackPlan]
    /// What must hold of the output before it is published.
    public var expectations: [Expectation]
    /// What becomes of everything in the source.
    public var ledger: [LedgerEntry]
    /// How long the output will be.
    public var expectedDuration: MediaTime
    /// Bytes that it will have, about; nil where nobody can say.
    public var expectedSize: Int64?
    /// Bytes that it has at most: it ends where no more fits.
    public var sizeLimit: Int64?
    /// Where that was written.
    public var sizeLimitLocation: SourceRange?
    /// Things worth knowing, such as scaling up.
    public var notes: [String]
    /// How a run treats it.
    public var scheduling: JobScheduling
}

extension JobPlan.Source {
    /// The same source, seen from this machine: on a shared file system each has its own number of the device.
    func isUnchanged(since before: JobPlan.Source) -> Bool {
        guard case .file(let path, var now) = self, case .file(let oldPath, let then) = before else {
            return self == before
        }
        now.device = then.device
        return path.exact == oldPath.exact && now == then
    }
}

extension JobPlan {
    /// The time of day of the output's first picture.
    public var timecode: String? {
        tracks.first { $0.source.mediaType == .video }?.metadata.first { $0.key == "timecode" }?.value
    }

    /// What is read.
    public var assetSource: Asset.Source {
        switch source {
        case .file(let path, _), .job(_, let path): .file(path)
        case .pattern(let pattern): .pattern(pattern)
        }
    }

    /// What is read, for people: a path, a URL or the name of a test signal.
    public var sourceName: String {
        switch source {
        case .file(let path, _), .job(_, let path): path
        case .pattern(let pattern): "test signal \(pattern.name)"
        }
    }

    /// The same work without what is there for people: a short message to whoever does it.
    public var bare: JobPlan {
        var plan = self
        (plan.ledger, plan.notes) = ([], [])
        (plan.sourceDescription.tracks, plan.sourceDescription.metadata) = ([], [])
        plan.sourceDescription.chapters = []
        for index in plan.tracks.indices {
            (plan.tracks[index].source.tags, plan.tracks[index].tags) = ([], [])
            guard case .encode(var encoding) = plan.tracks[index].action else { continue }
            encoding.settings = []
            plan.tracks[index].action = .encode(encoding)
        }
        return plan
    }

    /// What of it is read, and how damage is treated.
    public var extent: ReadingExtent {
        var extent = ReadingExtent(
            ranges: joinedRanges.isEmpty ? range.map { [$0] } ?? [] : joinedRanges, damagePolicy: damagePolicy
        )
        // What a header only guesses is no end to cut at.
        extent.isOpen =
            !sourceDescription.isDurationExact && [nil, .exact].contains(cut)
            && extent.ranges.last?.end == sourceDescription.duration
        return extent
    }

    /// The plan of an output that ended early because it was full: what of it is read, and its chapters.
    public func stopped(at end: MediaTime?) -> JobPlan {
        guard let end else { return self }
        var plan = self
        plan.chapters = chapters.ending(at: end)
        plan.joinedRanges = joinedRanges.isEmpty ? [] : joinedRanges.prefix(lasting: end)
        plan.range = (range ?? TimeRange(start: .zero, duration: expectedDuration)).prefix(lasting: end)
        return plan
    }

    /// An output that is there can be judged by what is expected now: all that was read is what the plan says.
    public var isJudgedAgain: Bool { sizeLimit == nil }

    /// Bytes that encoders note between two passes, at most; they lie beside the state, not at the destination.
    public var expectedNotes: Int64 { SizeEstimate.notes(of: tracks) }

    /// One of its tracks is looked at once before it is compressed.
    public var hasTwoPasses: Bool {
        tracks.contains { if case .encode(let encoding) = $0.action { encoding.hasTwoPasses } else { false } }
    }
}

/// One track of an output.
public struct TrackPlan: Codable, Hashable, Sendable {
    /// What is done. What there is to say of it is kept apart: of ten thousand tracks most are copied.
    public enum Action: Codable, Hashable, Sendable {
        /// Packets as they are.
        case copy
        /// Packets as they are but for the edges of the range.
        indirect case smartCut(SmartCut)
        /// Cues in another kind of text.
        case subtitle(SubtitleCodec)
        /// Compressed anew.
        indirect case encode(Encoding)
    }

    /// How a track is compressed anew.
    public struct Encoding: Codable, Hashable, Sendable {
        /// The codec's name in job files.
        public var codec: String
        /// Everything the encoder is opened with.
        public var encoder: EncoderConfiguration
        /// In what form pictures are read.
        public var video: VideoOutputSettings?
        /// In what form sound is read.
        public var audio: AudioOutputSettings?
        /// The loudness that sound is brought to, after it was measured.
        public var loudness: LoudnessTarget?
        /// Everything is looked at once before.
        public var hasTwoPasses: Bool
        /// The settings for people, each with where it came from.
        public var settings: [Setting]
        /// What of the encoder's colour the job says itself: `primaries`, `transfer`, `matrix`, `range`. Without them there
        /// is no output, without a source's own a warning.
        public var askedColor: [String] = []

        /// The bit rate is another than was thought usual.
        mutating func take(bitRate: Int64) {
            encoder.bitRate = bitRate
            for index in settings.indices where settings[index].key == "bitrate" {
                settings[index].value = "\(bitRate)"
            }
        }
    }

    /// A resolved setting.
    public struct Setting: Codable, Hashable, Sendable {
        /// Where a setting came from.
        public enum Origin: String, Codable, Sendable {
            /// The job says it.
            case job
            /// Named settings say it.
            case settings
            /// `defaults` say it.
            case defaults
            /// The export preset says it.
            case preset
            /// The source has it.
            case source
            /// Nobody said anything.
            case `default`
        }
        /// Its key.
        public var key: String
        /// Its value.
        public var value: String
        /// Where it came from.
        public var origin: Origin
    }

    /// What the output's track will be.
    public struct Expectation: Codable, Hashable, Sendable {
        /// Pictures, for video.
        public var frames: Int?
        /// Samples per channel, for sound that is compressed anew.
        public var samples: Int64?
        /// Where it will lie on the output's time line.
        public var timeRange: TimeRange
        /// The figures are exact; estimates otherwise.
        public var isExact: Bool
    }

    /// What becomes of a tag of a track.
    public struct Tag: Codable, Hashable, Sendable {
        /// Its key.
        public var key: String
        /// What becomes of it.
        public var outcome: LedgerEntry.Outcome
        /// Why.
        public var reason: String
    }

    /// The source's track.
    public var source: SourceDescription.Track
    /// Several tracks of the source become this one; `source` is then what they have in common.
    public var mix: AudioMix?
    /// What is done.
    public var action: Action
    /// What comes of it.
    public var expected: Expectation
    /// How the output's pictures are to be turned for display.
    public var transform: DisplayTransform?
    /// The rule's place in the file.
    public var location: SourceRange
    /// Tags of the track.
    public var metadata: [MetadataEntry]
    /// The keys among them that the rule sets, in lower case.
    public var askedTags: [String] = []
    /// What becomes of the tags that the source's track has.
    public var tags: [Tag]
    /// Dispositions by libav's names.
    public var disposition: [String]
    /// Kinds of side data that go along.
    public var sideData: [String]
}

extension TrackPlan {
    /// It is made of a track of the source, alone or with others.
    func takes(_ index: Int) -> Bool { mix?.inputs.contains { $0.track == index } ?? (source.index == index) }
}

/// What becomes of one thing in a source.
public struct LedgerEntry: Codable, Hashable, Sendable {
    /// What becomes of it.
    public enum Outcome: String, Codable, Sendable {
        /// Taken as it is.
        case copied
        /// Compressed anew.
        case encoded
        /// Not in the output.
        case left
    }
    /// The index of the track it is or belongs to; nil for the file's own.
    public var track: Int?
    /// What it is: `video h264 1280x720`, `chapters`, `tag title`.
    public var item: String
    /// What becomes of it.
    public var outcome: Outcome
    /// Why, or as what.
    public var reason: String
}

/// All jobs of one call, in the order they may start.
public struct BatchPlan: Codable, Sendable {
    /// The version of this form.
    public var version = 1
    /// The plans, every job after the ones it waits for.
    public var jobs: [JobPlan]
    /// Jobs whose outputs are up to date, without a look into their sources.
    public var settled: [Settled] = []
    /// Messages about jobs that can't be carried out, and notes; by job.
    public var refusals: [Refusal]

    /// A job that has nothing to do.
    public struct Settled: Codable, Sendable {
        /// The job's id.
        public var id: String
        /// The job's id as the file has it.
        public var base: String
        /// The job file.
        public var file: String
        /// The absolute path of its output.
        public var destination: String
    }

    /// A job that can't be carried out.
    public struct Refusal: Codable, Sendable {
        /// The job's id.
        public var id: String
        /// The job file.
        public var file: String
        /// Why.
        public var diagnostics: [Diagnostic]
    }

    /// Makes a plan.
    public init(jobs: [JobPlan], settled: [Settled] = [], refusals: [Refusal]) {
        self.jobs = jobs
        self.settled = settled
        self.refusals = refusals
    }
}

extension TrackPlan.Setting.Origin {
    /// By the way a written setting came to where it is read.
    init(_ range: SourceRange?) {
        if range?.context?.contains(.preset) == true {
            self = .preset
        } else if range?.context?.contains(.settings) == true {
            self = .settings
        } else if range?.context?.contains(.defaults) == true {
            self = .defaults
        } else {
            self = .job
        }
    }
}

extension TrackPlan {
    /// The codec that the output's track has; nil of subtitles.
    var outputCodec: String? {
        switch action {
        case .copy, .smartCut: source.codec
        case .encode(let encoding): encoding.codec
        case .subtitle: nil
        }
    }
}
