internal import JobSpec
internal import Media

/// Conversion of time expressions to times of the output. Frame numbers and chapters are not supported, because they
/// are not known before the output exists.
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
