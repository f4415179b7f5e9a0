internal import ArgumentParser
internal import Engine

extension ExitCode {
    /// Creates the exit code of a status.
    init(_ status: RunStatus) { self.init(status.rawValue) }
}
