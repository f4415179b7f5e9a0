internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing

/// The work of an image or waveform output: from its source to the given file, which is verified.
protocol OutputWork: Sendable {
    /// Creates and verifies the file. Blocks; the job's `Cancellation` ends it with `CancellationError`.
    func make() throws -> OutputFindings
    /// Completed fraction, from 0 to 1.
    var fraction: Double { get }
}

/// The input of such work: its only track, open, and the file to write.
struct OutputSource: Sendable {
    let task: OutputTask
    let asset: Asset
    let track: AssetTrack
    /// The plan of the track, and how it is encoded.
    let planned: TrackPlan
    let encoding: TrackPlan.Encoding
    let file: TemporaryFile
    let limits: InputLimits
    let cancellation: Cancellation
}
