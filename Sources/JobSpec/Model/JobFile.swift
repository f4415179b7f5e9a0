package import Diagnostics
internal import ExactStrings
package import LibAV
package import Media

/// A value and where it was written.
package struct Located<Value: Sendable>: Sendable {
    /// The value.
    package var value: Value
    /// Where it was written.
    package var range: SourceRange

    /// Makes a located value.
    package init(_ value: Value, at range: SourceRange) {
        self.value = value
        self.range = range
    }
}

extension Located: Equatable where Value: Equatable {}

/// A decoded job file: the jobs with matrix and defaults applied, each ready to be planned.
package struct JobFile: Sendable {
    /// The file as the user named it.
    package var path: String
    /// The batch's name.
    package var name: String
    /// Assets by id, in file order.
    package var assets: [(id: Located<String>, asset: AssetSpec)]
    /// Jobs in file order, every run of a matrix on its own. A job whose asset is a pattern stands here once
    /// until `expanded` puts its runs in its place.
    package var jobs: [JobSpec]
    /// What the jobs were made of, for expanding patterns.
    let definition: BatchDefinition

    /// What only a trial can judge, each setting once for each place where it stands.
    package var settingsChecks: [SettingsCheck] {
        var seen: [SettingsTrial: Set<SourceRange>] = [:]
        return jobs.flatMap(\.outputs).flatMap { $0.tracks.flatMap(\.action.settingsChecks) }.filter {
            seen[$0.trial, default: []].insert($0.range).inserted
        }
    }

    /// The absolute path of a written one: relative to the file that it stands in.
    package func absolutePath(_ written: Located<String>) -> String {
        definition.absolutePath(written)
    }
}

/// A source as a job file says it.
package struct AssetSpec: Sendable {
    /// Where media come from.
    package enum Source: Sendable {
        /// A file; the path as written.
        case file(Located<String>)
        /// What a URL leads to.
        case url(Located<String>)
        /// Every file that a pattern matches.
        case glob(Located<String>)
        /// A test signal.
        case pattern(TestPattern)
        /// Numbered images; the path as written.
        case images(Located<String>, frameRate: Rational)
        /// An image that is shown for some time.
        case image(Located<String>, duration: MediaTime, frameRate: Rational)
        /// Several assets on one time line, as a job file says it.
        indirect case composition(CompositionSpec)
        /// The same as a program made it.
        indirect case composed(Composition)
        /// What a job publishes: its id, the full id of the run, and which of several outputs.
        case job(Located<String>, run: String, output: Located<String>?)
    }
    /// Where media come from.
    package var source: Source
    /// How times are found out.
    package var timing: AssetTiming
    /// Where it was written.
    package var range: SourceRange

    /// The assets that it is made of: itself, but of a composition.
    package var parts: [AssetSpec] {
        if case .composition(let spec) = source { spec.assets } else { [self] }
    }

    /// The jobs whose outputs it is made of, each once.
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

    /// The runs of jobs whose outputs it is made of.
    package var readRuns: [String] {
        parts.compactMap { if case .job(_, let run, _) = $0.source { run } else { nil } }
    }

    /// The pattern whose matches it is run for; nil where there is none.
    package var pattern: Located<String>? {
        switch source {
        case .glob(let pattern): pattern
        case .composition(let spec): spec.pattern
        default: nil
        }
    }
}

/// What happens to source tracks that no rule selects.
package enum Leftover: String, Codable, Sendable, CaseIterable {
    /// They are listed in plan and report.
    case drop
    /// They are warned of.
    case warn
    /// The job can't be planned.
    case error
}

/// How a range is cut.
package enum CutMode: String, Codable, Hashable, Sendable, CaseIterable {
    /// To the frame and the sample; what can't be copied so is re-encoded.
    case exact
    /// Copied frames widen the range to where they can begin and end.
    case keyframe
    /// To the frame, with copied frames re-encoded at the edges only.
    case smart
    /// The same, and all of it re-encoded where that can't be.
    case smartOrExact = "smart-or-exact"
}

/// What becomes of the source's chapters.
package enum ChapterSpec: Sendable {
    /// They are trimmed and shifted with the range.
    case keep
    /// The output has none.
    case drop
    /// One for each clip of a composition.
    case clips
    /// The output has these.
    case list([(start: Located<TimeExpression>, title: String)])
}

/// The output's tags as a job file says them.
package struct MetadataSpec: Sendable {
    /// Which of the source's are kept.
    package enum Keep: Hashable, Sendable {
        /// All.
        case all
        /// None.
        case none
        /// Those named.
        case keys([String])

        /// It keeps one of that name.
        package func contains(_ key: String) -> Bool {
            switch self {
            case .all: true
            case .none: false
            case .keys(let keys): keys.contains(key)
            }
        }
    }
    /// Which of the source's are kept.
    package var keep: Keep = .all
    /// Where it is said that the output's file is as old as the source's; nil where it isn't.
    package var fileTimes: SourceRange?
    /// Tags to write, in order.
    package var set: [(key: Located<String>, value: String)] = []
}

/// What happens to a file at the destination that Tandem did not publish.
package enum IfExists: String, Codable, Hashable, Sendable, CaseIterable {
    /// It stays, and the job fails.
    case fail
    /// It is replaced.
    case replace
    /// It stays, and the job is skipped.
    case skip
}

/// Where the output goes, as a job file says it.
package struct DestinationSpec: Sendable {
    /// The path as written.
    package var path: Located<String>
    /// What happens to somebody else's file there.
    package var ifExists: IfExists
    /// Missing folders are made.
    package var makesDirectories: Bool
    /// Parts of the path are known only once a pattern's matches are.
    package var isTemplate = false
}
