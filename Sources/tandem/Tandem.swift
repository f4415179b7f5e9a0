internal import ArgumentParser
internal import CLinux
internal import Diagnostics
internal import Dispatch
internal import Engine
internal import Glibc
internal import JobPlan
internal import JobRun
internal import LibAV

#if ClosedProc
    internal import CThreadStatus
#endif

/// The entry point of the program: runs as a worker, or parses the command line and runs a command.
@main
enum Program {
    static func main() {
        tandem_fill_standard_files()
        let words = CommandLine.arguments.dropFirst()
        if words.first == WorkerMain.argument { work() }
        FirstWorker.start(for: ["run", "plan"])
        if let lack = ProcessLimits.shortage() {
            Terminal.reportLine("error: \(lack)")
            exit(RunStatus.environment.rawValue)
        }
        if words.first == "run" || words.first == "watch" { ProcessLimits.raiseOpenFiles() }
        // `validate` reads no media; it decodes job files on two threads.
        if words.first == "validate" {
            tandem_widen_heaps()
        } else {
            tandem_limit_arenas(2)
            tandem_tune_allocator(0)
        }
        // SVT-AV1 logs directly to standard error; only its errors are shown.
        setenv("SVT_LOG", "1", 0)
        Task(executorPreference: CommandExecutor()) { await run() }
        dispatchMain()
    }

    /// Runs this process as a worker.
    private static func work() -> Never {
        #if ClosedProc
            tandem_look_at_own_threads()
            WorkerMain.run(seesOwnThreadsAlone: true)
        #else
            WorkerMain.run()
        #endif
    }

    /// Runs the command like `AsyncParsableCommand.main`. If standard output can't be written completely, exits with a
    /// failure status.
    private static func run() async -> Never {
        var problem: (any Error)?
        let names = Tandem.configuration.subcommands.compactMap { $0.configuration.commandName }
        let words = CommandWords(CommandLine.arguments.dropFirst())
        if let message = words.problem(commands: names) {
            Terminal.reportLine("error: \(message)")
            exit(ExitCode.validationFailure.rawValue)
        }
        let help = words.help(
            overview: Tandem.helpMessage(), width: min(Terminal.width(of: STDOUT_FILENO), 120))
        do {
            if let help { throw CleanExit.message(help) }
            var command = try Tandem.parseAsRoot()
            if var async = command as? any AsyncParsableCommand {
                try await async.run()
            } else {
                try command.run()
            }
        } catch  where Tandem.exitCode(for: error) == .success {
            // `--help` and `--version`.
            Terminal.print(Tandem.fullMessage(for: error) + "\n")
        } catch let error as EngineError where error.status != .usage {
            Terminal.reportLine("error: \(error.message)")
            problem = ExitCode(error.status)
        } catch let error as EngineError {
            problem = ValidationError(SafeText.line(error.message))
        } catch {
            problem = error
        }
        if let loss = Terminal.writeError {
            Terminal.reportLine("error: standard output can't be written: \(loss)")
            problem = problem ?? ExitCode(RunStatus.environment)
        }
        Tandem.exit(withError: problem)
    }
}

/// The root command.
struct Tandem: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tandem",
        abstract: "Validate, plan and run media jobs that a YAML file describes.",
        discussion: """
            `tandem help` lists topics: `tandem help times` describes times in job files.

            Exit status: \(RunStatus.listing).
            """,
        version: "tandem \(ProgramVersion.current) (FFmpeg \(LibraryVersions.ffmpeg))",
        subcommands: [
            ValidateCommand.self, PlanCommand.self, RunCommand.self, WatchCommand.self, ProbeCommand.self,
            SchemaCommand.self,
            CodecsCommand.self, PresetsCommand.self, InitCommand.self, ExplainCommand.self,
            AcceptCommand.self,
            HistoryCommand.self, CleanCommand.self,
            SubmitCommand.self, StatusCommand.self, CancelCommand.self, ResubmitCommand.self,
            CollectCommand.self, DoctorCommand.self,
        ])
}
