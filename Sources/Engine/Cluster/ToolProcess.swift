internal import FoundationEssentials
internal import Subprocess

/// The execution of other programs, such as Slurm's commands, without a shell.
enum ToolProcess {
    /// The environment without the variables that restrict which jobs Slurm's commands list or cancel.
    private static var environment: Subprocess.Environment {
        let names = ProcessInfo.processInfo.environment.keys.filter {
            $0.hasPrefix("SQUEUE_") || $0.hasPrefix("SCANCEL_")
        }
        return .inherit.updating(
            Dictionary(
                uniqueKeysWithValues: names.map { (Subprocess.Environment.Key(stringLiteral: $0), nil) }))
    }

    /// Runs a program found in `PATH`, and returns its standard output.
    /// - Throws: An environment error if it can't be started or fails, with the last line of its error output.
    static func run(_ words: [String]) async throws(EngineError) -> String {
        guard let name = words.first else { return "" }
        do {
            let result = try await Subprocess.run(
                .name(name), arguments: Arguments(Array(words.dropFirst())), environment: environment,
                input: .none,
                output: .string(limit: 256 << 20), error: .string(limit: 1 << 20))
            guard result.terminationStatus.isSuccess else {
                let line = result.standardError.split(separator: "\n").last.map { ": \($0)" } ?? ""
                throw EngineError(.environment, "`\(name)` failed\(line)")
            }
            return result.standardOutput
        } catch let error as EngineError {
            throw error
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw EngineError(.environment, "`\(name)` is not installed")
        } catch {
            throw EngineError(.environment, "`\(name)` can't be run: \(error)")
        }
    }
}
