internal import JobSpec
internal import Media

/// The resolution of times on the output's time line, where neither frames nor chapters are known yet.
enum OutputTime {
    /// Returns the time; nil for expressions that have no meaning for an output.
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
