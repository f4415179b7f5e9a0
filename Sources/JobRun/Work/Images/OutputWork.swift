internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The work of an image or waveform output, which writes a file, or of a check, which creates no file.
protocol OutputWork: Sendable {
    /// Creates and verifies the file, or checks the source. Blocks the caller. Cancelling the job's `Cancellation`
    /// makes it throw `CancellationError`.
    func run() throws -> OutputFindings
    /// Completed fraction, from 0 to 1.
    var fraction: Double { get }
}

/// The input of an image or waveform output: the opened track, and the file to write.
struct OutputSource: Sendable {
    let task: OutputTask
    let asset: Asset
    let track: AssetTrack
    let planned: TrackPlan
    let encoding: TrackPlan.Encoding
    let file: TemporaryFile
    let limits: InputLimits
    let cancellation: Cancellation
}
