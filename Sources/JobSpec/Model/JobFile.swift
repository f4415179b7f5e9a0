public import Diagnostics
public import Media

/// A value and where it was written.
public struct Located<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// Where it was written.
    public var range: SourceRange

    /// Makes a located value.
    public init(_ value: Value, at range: SourceRange) {
        self.value = value
        self.range = range
    }
}

extension Located: Equatable where Value: Equatable {}

/// A decoded job file: the jobs with matrix and defaults applied, each ready to be planned.
public struct JobFile: Sendable {
    /// The file as the user named it.
    public var path: String
    /// The batch's name.
    public var name: String
    /// Assets by id, in file order.
    public var assets: [(id: Located<String>, asset: AssetSpec)]
    /// Jobs in file order, every run of a matrix on its own. A job whose asset is a pattern stands here once
    /// until `expanded` puts its runs in its place.
    public var jobs: [JobSpec]
    /// What the jobs were made of, for expanding patterns.
    let definition: BatchDefinition

    /// What only a trial can judge, each setting once for each place where it stands.
    public var settingsChecks: [SettingsCheck] {
        var seen: [SettingsTrial: Set<SourceRange>] = [:]
        return jobs.flatMap(\.outputs).flatMap { $0.tracks.flatMap(\.action.settingsChecks) }.filter {
            seen[$0.trial, default: []].insert($0.range).inserted
        }
    }

    /// The absolute path of a written one: relative to the file that it stands in.
    public func absolutePath(_ written: Located<String>) -> String {
        definition.absolutePath(written)
    }
}

/// A source as a job file says it.
public struct AssetSpec: Sendable {
    /// Where media come from.
    public enum Source: Sendable {
        /// A file; the path as written.
        case file(Located<String>)
        /// What a URL leads to.
        case url(Located<String>)
        /// Every file that a pattern matches.
        case glob(Located<String>)
        /// A test signal.
        case pattern(TestPattern)
        /// What a job publishes: its id, the full id of the run, and which of several outputs.
        case job(Located<String>, run: String, output: Located<String>?)
    }
    /// Where media come from.
    public var source: Source
    /// How times are found out.
    public var timing: AssetTiming
    /// Where it was written.
    public var range: SourceRange
}

/// What happens to source tracks that no rule selects.
public enum Leftover: String, Codable, Sendable, CaseIterable {
    /// They are listed in plan and report.
    case drop
    /// They are warned of.
    case warn
    /// The job can't be planned.
    case error
}

/// How a range is cut.
public enum CutMode: String, Codable, Hashable, Sendable, CaseIterable {
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
public enum ChapterSpec: Sendable {
    /// They are trimmed and shifted with the range.
    case keep
    /// The output has none.
    case drop
    /// The output has these.
    case list([(start: Located<TimeExpression>, title: String)])
}

/// The output's tags as a job file says them.
public struct MetadataSpec: Sendable {
    /// Which of the source's are kept.
    public enum Keep: Hashable, Sendable {
        /// All.
        case all
        /// None.
        case none
        /// Those named.
        case keys([String])

        /// It keeps one of that name.
        public func contains(_ key: String) -> Bool {
            switch self {
            case .all: true
            case .none: false
            case .keys(let keys): keys.contains(key)
            }
        }
    }
    /// Which of the source's are kept.
    public var keep: Keep = .all
    /// Where it is said that the output's file is as old as the source's; nil where it isn't.
    public var fileTimes: SourceRange?
    /// Tags to write, in order.
    public var set: [(key: Located<String>, value: String)] = []
}

/// What happens to a file at the destination that Tandem did not publish.
public enum IfExists: String, Codable, Hashable, Sendable, CaseIterable {
    /// It stays, and the job fails.
    case fail
    /// It is replaced.
    case replace
    /// It stays, and the job is skipped.
    case skip
}

/// Where the output goes, as a job file says it.
public struct DestinationSpec: Sendable {
    /// The path as written.
    public var path: Located<String>
    /// What happens to somebody else's file there.
    public var ifExists: IfExists
    /// Missing folders are made.
    public var makesDirectories: Bool
}
