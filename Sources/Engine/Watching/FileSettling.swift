internal import CLinux
internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import Publishing

/// The observation of files that other programs write: a file is complete if it hasn't changed for some time, and no process has
/// it open for writing.
///
/// The time counts from the observation of a state of the file, since the clocks of file servers differ from that of this
/// machine, and copies may have the modification time of their originals.
struct FileSettling {
    /// The state of a file.
    enum State: Equatable {
        case missing
        /// The file may still be written. The value is the earliest time at which this may have changed.
        case incomplete(until: ContinuousClock.Instant)
        /// The token differs from that of any other content.
        case complete(token: String)
    }

    /// Whether processes have a file open for writing.
    enum Writers { case none, some, unknown }

    private struct Observation {
        let token: String
        let since: ContinuousClock.Instant
        /// Whether the file was found not to be open for writing.
        var isClosed = false
        /// Number of times that the file was found to be open.
        var openChecks = 0
    }

    /// Time for which a complete file is unchanged.
    let time: Duration
    /// Multiple of the time for files whose writers aren't known.
    private static let factorForUnknownWriters = 5
    /// Maximum time until an open file is examined again. The end of a write is reported as a change.
    private static let maxInterval = Duration.seconds(5)
    private let writers: (String) -> Writers
    private var observations: [ExactString: Observation] = [:]
    private var examined: [ExactString: State] = [:]

    /// `writers` returns whether processes have a file open for writing.
    init(time: Duration, writers: @escaping (String) -> Writers) {
        (self.time, self.writers) = (time, writers)
    }

    /// Creates the observation of files beneath a root. Writers of files of other users, and on other machines, aren't known.
    init(time: Duration, beneath root: PathRoot) {
        self.init(time: time) { path in
            // Opening a pipe would end its writer.
            guard SystemDisk().type(of: path) == .file else { return .none }
            let descriptor = root.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            guard descriptor >= 0 else { return .none }
            defer { close(descriptor) }
            return switch tandem_is_open_for_writing(descriptor) {
            case 0: .none
            case 1: .some
            default: .unknown
            }
        }
    }

    /// Examines files anew, each once. Files that aren't examined are forgotten.
    mutating func examine(
        _ paths: some Sequence<String>, at now: ContinuousClock.Instant,
        token: (String) -> String? = FileIdentity.changeToken
    ) {
        var kept: [ExactString: Observation] = [:]
        examined = [:]
        for path in paths where examined[path.exact] == nil {
            guard let token = token(path) else {
                examined[path.exact] = .missing
                continue
            }
            var observation = Observation(token: token, since: now)
            if let known = observations[path.exact], known.token == token { observation = known }
            examined[path.exact] = state(of: path, &observation, at: now)
            kept[path.exact] = observation
        }
        observations = kept
    }

    /// Returns the state of a file when it was examined.
    func state(of path: String) -> State { examined[path.exact] ?? .missing }

    /// Returns the token of a file when it was examined; nil for a missing file.
    func token(of path: String) -> String? { observations[path.exact]?.token }

    private func state(
        of path: String, _ observation: inout Observation, at now: ContinuousClock.Instant
    ) -> State {
        let end = observation.since + time
        if now < end { return .incomplete(until: end) }
        if observation.isClosed { return .complete(token: observation.token) }
        switch writers(path) {
        case .none: break
        case .some:
            let interval = max(time, .seconds(1)) * (1 << min(observation.openChecks, 5))
            observation.openChecks += 1
            return .incomplete(until: now + min(interval, max(time, Self.maxInterval)))
        case .unknown:
            let end = observation.since + time * Self.factorForUnknownWriters
            if now < end { return .incomplete(until: end) }
        }
        observation.isClosed = true
        return .complete(token: observation.token)
    }
}
