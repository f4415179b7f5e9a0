package import Diagnostics
internal import ExactStrings
package import LibAV
package import Media

/// A value with its location in a job file.
package struct Located<Value: Sendable>: Sendable {
    package var value: Value
    /// The value's location.
    package var range: SourceRange

    package init(_ value: Value, at range: SourceRange) {
        self.value = value
        self.range = range
    }
}

extension Located: Equatable where Value: Equatable {}

/// A decoded job file: the jobs with matrix and defaults applied, ready for planning.
package struct JobFile: Sendable {
    /// Path of the file as passed to the decoder.
    package var path: String
    package var name: String
    /// Assets by id, in file order.
    package var assets: [(id: Located<String>, asset: AssetSpec)]
    /// Jobs in file order, with one element for each combination of a matrix. A job whose asset is a pattern has one
    /// element until `expanded` replaces it with its instances.
    package var jobs: [JobSpec]
    /// Whether jobs have patterns whose matches are unknown. A job whose other values depend on the match may be missing in
    /// `jobs` until `expanded`.
    package var hasTemplates = false
    /// The sections that the jobs were decoded from, for expanding patterns.
    let definition: BatchDefinition

    /// Settings that only a dry open of encoders and filters can validate, each once for each location.
    package var settingsChecks: [SettingsCheck] {
        var seen: [SettingsValidation: Set<SourceRange>] = [:]
        var checks: [SettingsCheck] = []
        for job in jobs {
            for output in job.renditions {
                for rule in output.tracks {
                    for check in rule.action.settingsChecks
                    where seen[check.validation, default: []].insert(check.range).inserted {
                        checks.append(check)
                    }
                }
            }
        }
        return checks
    }

    /// Resolves a path against the folder of the file that contains it.
    package func absolutePath(_ written: Located<String>) -> String {
        definition.absolutePath(written)
    }
}

/// A source in a job file.
package struct AssetSpec: Sendable {
    /// The kind of source.
    package enum Source: Sendable {
        /// A local file, by its path as written.
        case file(Located<String>)
        /// A remote file, by its URL.
        case url(Located<String>)
        /// Several files, by paths and glob patterns.
        case glob(FilePatterns)
        /// A test signal.
        case pattern(TestPattern)
        /// A numbered image sequence, by its path as written.
        case images(Located<String>, frameRate: Rational)
        /// An image with a presentation duration.
        case image(Located<String>, duration: MediaTime, frameRate: Rational)
        /// A streaming package, by the path of its playlist or MPD.
        case playlist(Located<String>)
        /// A composition of the job file: several assets on one time line.
        indirect case composition(CompositionSpec)
        /// A composition from the library's API.
        indirect case composed(Composition)
        /// The output of another job: the job's id, the full id of the instance, and the output's id.
        case job(Located<String>, instance: String, output: Located<String>?)
    }
    package var source: Source
    /// The method by which times and duration of the source are determined.
    package var timing: AssetTiming
    /// Language of the audio and subtitle tracks for which the source states none; nil if unknown.
    package var language: Located<String>? = nil
    /// The asset's location in the job file.
    package var range: SourceRange

    /// Noun phrase for a source that isn't a media file; nil for files, URLs and outputs of jobs.
    var generatedNoun: String? {
        switch source {
        case .pattern: "a test signal"
        case .images: "an image sequence"
        case .image: "an image"
        case .composition, .composed: "a composition"
        case .file, .url, .glob, .job, .playlist: nil
        }
    }

    /// Assets of a composition; the asset itself for any other source.
    package var parts: [AssetSpec] {
        if case .composition(let spec) = source { spec.assets } else { [self] }
    }

    /// The path of a local source that is one file, a package or numbered images, as written; nil for any other source.
    package var path: Located<String>? {
        switch source {
        case .file(let path), .image(let path, _, _), .playlist(let path), .images(let path, _): path
        case .url, .glob, .pattern, .job, .composition, .composed: nil
        }
    }

    /// The jobs whose outputs are read, without duplicates.
    var readJobs: [Located<String>] {
        var found: [Located<String>] = []
        for part in parts {
            guard case .job(let id, _, _) = part.source,
                !found.contains(where: { $0.value.exact == id.value.exact })
            else { continue }
            found.append(id)
        }
        return found
    }

    /// Full ids of the job instances whose outputs are read.
    package var readInstances: [String] {
        parts.compactMap { if case .job(_, let run, _) = $0.source { run } else { nil } }
    }

    /// The files for each of which there is one job instance; nil for other assets.
    package var patterns: FilePatterns? {
        switch source {
        case .glob(let patterns): patterns
        case .composition(let spec): spec.patterns
        default: nil
        }
    }
}

/// The handling of source tracks that no rule selects.
package enum Leftover: String, Codable, Sendable, CaseIterable {
    /// The tracks are listed in plan and report.
    case drop
    /// The tracks cause warnings.
    case warn
    /// The tracks are errors.
    case error
}

/// The method by which a range is cut.
package enum CutMode: String, Codable, Hashable, Sendable, CaseIterable {
    /// Exact to the frame and the sample. If packets can't be copied exactly, `encode` applies as fallback, or the job
    /// is rejected.
    case exact
    /// The range is widened to positions at which copied frames can begin and end.
    case keyframe
    /// Exact to the frame; copied tracks are re-encoded only at the edges.
    case smart
    /// The edges are re-encoded as for `smart`, or the whole range if that isn't possible.
    case smartOrExact = "smart-or-exact"
}

/// The chapters of an output.
package enum ChapterSpec: Sendable {
    /// The source's chapters, trimmed to the range and shifted.
    case keep
    /// No chapters.
    case drop
    /// One chapter for each clip of a composition.
    case clips
    /// The listed chapters.
    case list([(start: Located<TimeExpression>, title: String)])
}

/// The configuration of an output's metadata.
package struct MetadataSpec: Sendable {
    /// The selection of the source's tags that are kept.
    package enum Keep: Hashable, Sendable {
        case all
        case none
        /// The named tags.
        case keys([String])

        /// Returns whether a tag of that name is kept.
        package func contains(_ key: String) -> Bool {
            switch self {
            case .all: true
            case .none: false
            case .keys(let keys): keys.contains(key)
            }
        }
    }
    /// The source's tags that are kept.
    package var keep: Keep = .all
    /// The image file of the cover, as written, which replaces the source's covers; nil for none.
    package var cover: Located<String>?
    /// Location of `file_times: keep`, which copies the source's modification time to the output; nil without it.
    package var fileTimes: SourceRange?
    /// Tags to write, in order.
    package var set: [(key: Located<String>, value: String)] = []
}

/// The handling of a file at the destination that Tandem did not publish.
package enum IfExists: String, Codable, Hashable, Sendable, CaseIterable {
    /// The file is kept, and the job fails.
    case fail
    /// The file is replaced.
    case replace
    /// The file is kept, and the job is skipped.
    case skip
}

/// The destination of an output.
package struct DestinationSpec: Sendable {
    /// The path as written.
    package var path: Located<String>
    /// Handling of a file at the destination that Tandem did not publish.
    package var ifExists: IfExists
    /// Whether missing folders are created.
    package var makesDirectories: Bool
    /// Whether the path depends on matches of a pattern that are not known yet.
    package var isTemplate = false
}
