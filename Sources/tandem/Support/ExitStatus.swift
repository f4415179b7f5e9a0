internal import ArgumentParser
internal import Engine

extension ExitCode {
    /// The exit code of a status.
    init(_ status: RunStatus) { self.init(status.rawValue) }
}
