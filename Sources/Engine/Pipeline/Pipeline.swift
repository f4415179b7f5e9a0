package import Diagnostics
package import JobPlan
package import JobRun
package import JobSpec

/// The way of job files to a run: loaded → checked → opened → planned → runnable.
///
/// Each stage is a type that only the stage before it creates, so that no command can leave one out: nothing is planned
/// whose settings no encoder accepted, and nothing runs whose destinations collide.
package enum Pipeline {
    /// The severities that end the pipeline.
    package struct Strictness: Sendable {
        /// Whether warnings count as errors (`--warnings-as-errors`).
        package var warningsAreErrors: Bool

        /// Errors, and warnings where asked for.
        package init(warningsAreErrors: Bool = false) { self.warningsAreErrors = warningsAreErrors }

        /// The exit status of some diagnostics; nil where they don't end the pipeline.
        package func status(of diagnostics: DiagnosticSink) -> RunStatus? {
            if diagnostics.hasErrors {
                return diagnostics.hasOnlyEnvironmentErrors ? .environment : .specWrong
            }
            return warningsAreErrors && diagnostics.hasWarnings ? .specWrong : nil
        }
    }

    /// Diagnostics that end the pipeline at a stage.
    package struct Rejection: Error, Sendable {
        /// The stage's diagnostics.
        package let diagnostics: DiagnosticSink
        /// The exit status.
        package let status: RunStatus
    }

    // MARK: Stages

    /// Job files as decoded, with the diagnostics of that.
    package struct Loaded: Sendable {
        /// The files that could be decoded.
        package let files: [JobFile]
        /// The diagnostics of loading.
        package let diagnostics: DiagnosticSink

        /// Adopts files that were decoded elsewhere.
        package init(files: [JobFile], diagnostics: DiagnosticSink) {
            self.files = files
            self.diagnostics = diagnostics
        }

        /// Adopts a file that was decoded elsewhere.
        package init(_ result: JobFileDecoder.Result) {
            self.init(files: result.file.map { [$0] } ?? [], diagnostics: result.sink)
        }

        /// Accepts the files.
        /// - Throws: `Rejection` where they have errors.
        package func checked(_ strictness: Strictness = Strictness()) throws(Rejection) -> Checked {
            if let status = strictness.status(of: diagnostics) {
                throw Rejection(diagnostics: diagnostics, status: status)
            }
            return Checked(files: files, strictness: strictness)
        }

        /// All diagnostics that need no media: those of loading, and those of opening encoders and
        /// filters for files without errors.
        package func allDiagnostics(_ prober: any SourceProber) -> DiagnosticSink {
            var all = diagnostics
            all.add(prober.tryOut(files))
            return all
        }
    }

    /// Job files without errors.
    package struct Checked: Sendable {
        /// The job files, decoded.
        package let files: [JobFile]
        private let strictness: Strictness

        fileprivate init(files: [JobFile], strictness: Strictness) {
            self.files = files
            self.strictness = strictness
        }

        /// Opens the encoders and filters that the files name, each setting once, without media (dry open).
        /// - Throws: `Rejection` where one refuses its settings, or is missing.
        package func opened(by prober: any SourceProber) throws(Rejection) -> Opened {
            let found = prober.tryOut(files)
            if let status = strictness.status(of: found) {
                throw Rejection(diagnostics: found, status: status)
            }
            return Opened(files: files, prober: prober)
        }
    }

    /// Job files whose settings encoders and filters accepted.
    package struct Opened: Sendable {
        private let files: [JobFile]
        private let prober: any SourceProber

        fileprivate init(files: [JobFile], prober: any SourceProber) {
            self.files = files
            self.prober = prober
        }

        /// Probes the sources and plans. `names` selects jobs and what they read or need, all where empty; `argument` is
        /// the place of messages about unknown names. `earlier` plans the jobs of that plan alone. `memory` knows what
        /// is up to date. Jobs that can't be planned are among the plan's refusals.
        package func planned(
            only names: [String] = [], from argument: String = "--only", as earlier: BatchPlan? = nil,
            memory: any PlanMemory = NoMemory()
        ) -> Planned {
            Planned(
                BatchPlanner.plan(
                    files, only: names, from: argument, as: earlier, memory: memory, prober: prober),
                prober: prober)
        }
    }

    /// Jobs with everything decided.
    package struct Planned: Sendable {
        /// The plans in starting order, and why other jobs have none.
        package let plan: BatchPlan
        /// The job files with their patterns expanded.
        package let files: [JobFile]
        /// All diagnostics, errors of single jobs too.
        package let diagnostics: DiagnosticSink
        /// Errors that concern the batch as a whole: collisions, destinations that are sources.
        package let conflicts: DiagnosticSink
        fileprivate let prober: any SourceProber

        fileprivate init(_ result: BatchPlanner.Result, prober: any SourceProber) {
            (plan, files) = (result.plan, result.files)
            (diagnostics, conflicts) = (result.diagnostics, result.conflicts)
            self.prober = prober
        }

        /// The warnings among the diagnostics.
        package var warnings: DiagnosticSink {
            var warnings = DiagnosticSink()
            for diagnostic in diagnostics.diagnostics where diagnostic.severity == .warning {
                warnings.add(diagnostic)
            }
            return warnings
        }

        /// Predicts which jobs would run, and why.
        /// - Throws: `StateError` where the state can't be read.
        package func forecast(_ state: RunState) throws(StateError) -> RunForecast {
            try RunForecast(plan, files: files, state: state, prober: prober)
        }

        /// Accepts the plan for a run.
        /// - Throws: `Rejection` where outputs collide.
        package func runnable() throws(Rejection) -> Runnable {
            if conflicts.hasErrors { throw Rejection(diagnostics: conflicts, status: .specWrong) }
            return Runnable(planned: self)
        }
    }

    /// A plan that can be carried out.
    package struct Runnable: Sendable {
        /// The plan.
        package let planned: Planned

        fileprivate init(planned: Planned) { self.planned = planned }

        /// Creates the runner of the plan. `performer` does the work; `observer` receives the events.
        package func runner(
            _ policy: RunPolicy = RunPolicy(), state: RunState?, performer: any WorkPerformer,
            observer: any RunObserver
        ) -> BatchRunner {
            BatchRunner(
                plan: planned.plan, files: planned.files, policy: policy, state: state, performer: performer,
                prober: planned.prober, observer: observer)
        }
    }
}
