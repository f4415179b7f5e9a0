internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The work of an output that is no movie: from its source to the file that it is given, which it checks.
protocol OutputWork: Sendable {
    /// Makes it; the job's `Cancellation` ends it with `CancellationError`. Blocks.
    func make() throws -> OutputFindings
    /// How far it has come, from 0 to 1.
    var fraction: Double { get }
}

/// What such work begins with: its one track, open, and where it goes.
struct OutputSource: Sendable {
    let task: OutputTask
    let asset: Asset
    let track: AssetTrack
    /// What the plan says of the track, and how it is encoded.
    let planned: TrackPlan
    let encoding: TrackPlan.Encoding
    let file: TemporaryFile
    let limits: InputLimits
    let cancellation: Cancellation
}
