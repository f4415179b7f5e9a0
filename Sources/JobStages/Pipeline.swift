package import Diagnostics
package import ExactStrings
package import JobPlan
package import JobSpec

/// The stages from job files to a run: loaded → checked → opened → planned → runnable.
///
/// Each stage is a type that only the previous stage creates, so commands can't skip a stage: jobs are planned only if
/// encoders accept their settings, and run only if their destinations don't collide.
package enum Pipeline {
    /// The severities of diagnostics that end the pipeline.
    package struct Strictness: Sendable {
        /// Whether warnings count as errors (`--warnings-as-errors`).
        package var warningsAreErrors: Bool

        /// Creates the setting. By default, only errors end the pipeline.
        package init(warningsAreErrors: Bool = false) { self.warningsAreErrors = warningsAreErrors }

        /// Returns the exit status for diagnostics; nil if they don't end the pipeline.
        package func status(of diagnostics: DiagnosticSink) -> RunStatus? {
            if diagnostics.hasErrors {
                return diagnostics.hasOnlyEnvironmentErrors ? .environment : .invalidSpec
            }
            return warningsAreErrors && diagnostics.hasWarnings ? .invalidSpec : nil
        }
    }

    /// The error of a stage whose diagnostics end the pipeline.
    package struct Rejection: Error, Sendable {
        package let diagnostics: DiagnosticSink
        package let status: RunStatus
    }

    // MARK: Stages

    /// The decoded job files, with their diagnostics.
    package struct Loaded: Sendable {
        package let files: [JobFile]
        /// Diagnostics of reading and decoding.
        package let diagnostics: DiagnosticSink

        /// Creates the stage from decoded files.
        package init(files: [JobFile], diagnostics: DiagnosticSink) {
            self.files = files
            self.diagnostics = diagnostics
        }

        /// Creates the stage from the result of decoding one file.
        package init(_ result: JobFileDecoder.Result) {
            self.init(files: result.file.map { [$0] } ?? [], diagnostics: result.sink)
        }

        /// - Throws: `Rejection` if the files have errors.
        package func checked(_ strictness: Strictness = Strictness()) throws(Rejection) -> Checked {
            if let status = strictness.status(of: diagnostics) {
                throw Rejection(diagnostics: diagnostics, status: status)
            }
            return Checked(files: files, strictness: strictness)
        }

        /// Returns all diagnostics that are available without media: those of loading, and those of dry opens of
        /// encoders and filters for files without errors.
        package func allDiagnostics(_ prober: any SourceProber) -> DiagnosticSink {
            var all = diagnostics
            all.add(prober.validateSettings(files))
            return all
        }
    }

    /// Job files without errors.
    package struct Checked: Sendable {
        package let files: [JobFile]
        private let strictness: Strictness

        fileprivate init(files: [JobFile], strictness: Strictness) {
            self.files = files
            self.strictness = strictness
        }

        /// Opens the encoders and filters that the files name, each configuration once, without media (dry open).
        /// - Throws: `Rejection` if an encoder or filter rejects its settings, or isn't available.
        package func opened(by prober: any SourceProber) throws(Rejection) -> Opened {
            let found = prober.validateSettings(files)
            if let status = strictness.status(of: found) {
                throw Rejection(diagnostics: found, status: status)
            }
            return Opened(files: files, prober: prober)
        }
    }

    /// Job files whose settings are accepted by encoders and filters.
    package struct Opened: Sendable {
        private let files: [JobFile]
        private let prober: any SourceProber

        fileprivate init(files: [JobFile], prober: any SourceProber) {
            self.files = files
            self.prober = prober
        }

        /// Probes the sources and plans the jobs. `names` selects jobs and those that they read or need; empty for all.
        /// `argument` is the location of messages about unknown names. With `earlier`, only the jobs of that plan are
        /// planned. With `selected`, only these instances are planned. `occupied` are paths of outputs that belong to
        /// other jobs. `memory` determines which outputs are up to date. Jobs that can't be planned are listed in the plan's refusals.
        package func planned(
            only names: [String] = [], from argument: String = "--only", as earlier: BatchPlan? = nil,
            selecting selected: Set<JobKey>? = nil,
            occupied: [ExactString: JobKey] = [:], memory: any PlanMemory = NoMemory()
        ) -> Planned {
            Planned(
                BatchPlanner.plan(
                    files, only: names, from: argument, as: earlier, selecting: selected,
                    occupied: occupied, memory: memory,
                    prober: prober),
                prober: prober)
        }
    }

    package struct Planned: Sendable {
        /// Plans in starting order, and the errors of jobs that can't be planned.
        package fileprivate(set) var plan: BatchPlan
        /// Job files with their patterns expanded.
        package let files: [JobFile]
        /// All diagnostics, including errors of individual jobs.
        package let diagnostics: DiagnosticSink
        /// Errors of the batch as a whole, such as destinations that collide or that are sources.
        package let conflicts: DiagnosticSink
        /// The jobs with such destinations.
        package let conflictingJobs: Set<JobKey>
        /// The prober that the jobs were planned with.
        package let prober: any SourceProber

        fileprivate init(_ result: BatchPlanner.Result, prober: any SourceProber) {
            (plan, files) = (result.plan, result.files)
            (diagnostics, conflicts) = (result.diagnostics, result.conflicts)
            conflictingJobs = result.conflictingJobs
            self.prober = prober
        }

        /// Warnings among the diagnostics.
        package var warnings: DiagnosticSink {
            var warnings = DiagnosticSink()
            for diagnostic in diagnostics.diagnostics where diagnostic.severity == .warning {
                warnings.add(diagnostic)
            }
            return warnings
        }

        /// - Throws: `Rejection` if outputs collide.
        package func runnable() throws(Rejection) -> Runnable {
            if conflicts.hasErrors { throw Rejection(diagnostics: conflicts, status: .invalidSpec) }
            return Runnable(planned: self)
        }
    }

    /// A plan whose outputs don't collide.
    package struct Runnable: Sendable {
        package private(set) var planned: Planned

        fileprivate init(planned: Planned) { self.planned = planned }

        /// Returns the plan with jobs that are derived from its own, such as the encoding of some chunks; nil if one can't be
        /// derived. Their outputs must not collide.
        package func deriving(_ job: (JobPlan) -> JobPlan?) -> Runnable? {
            var derived = self
            derived.planned.plan.jobs = planned.plan.jobs.compactMap(job)
            return derived.planned.plan.jobs.count == planned.plan.jobs.count ? derived : nil
        }

        /// The jobs of the plan, in starting order.
        package var jobs: [RunnableJob] { planned.plan.jobs.map(RunnableJob.init) }
    }

    /// The plan of a job whose outputs collide with no others.
    package struct RunnableJob: Sendable {
        package let plan: JobPlan

        fileprivate init(plan: JobPlan) { self.plan = plan }
    }
}
