internal import CLinux
internal import ExactStrings
internal import FileSystem
internal import Glibc

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

    private struct Observation {
        let token: String
        let since: ContinuousClock.Instant
        /// Whether the file was found not to be open for writing.
        var isClosed = false
    }

    /// Time for which a complete file is unchanged.
    let time: Duration
    private let isOpen: (String) -> Bool
    private var observations: [ExactString: Observation] = [:]
    private var examined: [ExactString: State] = [:]

    /// `isOpen` returns whether a process has a file open for writing.
    init(time: Duration, isOpen: @escaping (String) -> Bool) {
        (self.time, self.isOpen) = (time, isOpen)
    }

    /// Creates the observation of files beneath a root. Writers on other machines aren't known.
    init(time: Duration, beneath root: PathRoot) {
        self.init(time: time) { path in
            let descriptor = root.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return tandem_is_open_for_writing(descriptor) == 1
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

    private func state(
        of path: String, _ observation: inout Observation, at now: ContinuousClock.Instant
    ) -> State {
        let end = observation.since + time
        if now < end { return .incomplete(until: end) }
        if !observation.isClosed {
            if isOpen(path) { return .incomplete(until: now + max(time, .seconds(1))) }
            observation.isClosed = true
        }
        return .complete(token: observation.token)
    }
}
