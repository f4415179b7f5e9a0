package import Diagnostics
internal import FileSystem
internal import JobPlan
package import JobRun

/// The outputs that were published for job files and that no job requests any more.
package struct StrayOutputs: Sendable {
    /// Obsolete outputs, ordered by job file and path.
    package let all: [Stray]
    /// Diagnostics of expanding patterns. If there are errors, the requested outputs are unknown and `all` is empty.
    package let problems: DiagnosticSink
    private let state: RunState

    /// Compares the destinations of job files with the state. Patterns are expanded; sources are not probed.
    package init(_ set: JobFileSet, state: RunState) {
        let paths = JobPaths(set.files, beneath: set.access.root)
        all =
            paths.problems.hasErrors
            ? []
            : state.strays.find(
                requested: paths.destinations, variableOutputs: paths.variableOutputs,
                sources: Set(paths.sources.map(SourceFileKey.init)))
        problems = paths.problems
        self.state = state
    }

    /// Removes an output. Returns false if it has changed since it was listed.
    /// - Throws: An environment error if the output can't be removed.
    package func remove(_ stray: Stray) throws(EngineError) -> Bool {
        try StateLocation.convertingErrors { () throws(StateError) in try state.strays.remove(stray) }
    }
}
