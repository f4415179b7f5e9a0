internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The work of an image or waveform output, from its source to the given file, which is verified; or of a check, which
/// creates no file.
protocol OutputWork: Sendable {
    /// Creates and verifies the file, or checks the source. Blocks; cancelling the job's `Cancellation` ends it
    /// with `CancellationError`.
    func run() throws -> OutputFindings
    /// Completed fraction, from 0 to 1.
    var fraction: Double { get }
}

/// The input of such work: the opened track, and the file to write.
struct OutputSource: Sendable {
    let task: OutputTask
    let asset: Asset
    let track: AssetTrack
    /// Plan of the track.
    let planned: TrackPlan
    let encoding: TrackPlan.Encoding
    let file: TemporaryFile
    let limits: InputLimits
    let cancellation: Cancellation
}
