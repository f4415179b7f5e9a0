internal import ArgumentParser
internal import Engine

extension ExitCode {
    /// Creates an exit code from a run status.
    init(_ status: RunStatus) { self.init(status.rawValue) }
}
