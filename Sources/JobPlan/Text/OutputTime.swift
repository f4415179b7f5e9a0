internal import JobSpec
internal import Media

/// Times that count on the output's time line, where no frames and no chapters are known yet.
enum OutputTime {
    /// Nil for what can't be said of an output.
    static func resolve(_ written: TimeExpression, duration: MediaTime) -> MediaTime? {
        switch written {
        case .absolute(let time): time
        case .fromEnd(let time): duration - time
        case .percent(let share): duration.multiplied(by: share, dividedBy: 100_000)
        case .end: duration
        case .frames, .chapter: nil
        }
    }
}
