package import Media

/// The description of a job's output in a job file, or of the check of its source.
package struct OutputSpec: Sendable {
    /// Id under `outputs`; nil for the only output of a job without `outputs`.
    package let id: Located<String>?
    /// Rules for the source's tracks, in output order. Image outputs and waveforms have one rule, which configures
    /// the encoder.
    package var tracks: [TrackRule]
    package internal(set) var kind: Kind
    /// Container; nil for a check, and while it depends on the matches of a pattern.
    package var container: Located<ContainerType>?
    /// Conditions that the output must meet.
    package var expectations: [Expectation] = []
    /// Handling of source tracks that no rule selects.
    package var leftover: Located<Leftover>?
    /// Destination; nil for a check.
    package var destination: DestinationSpec?
    /// Division into one output for each track; nil for a single output.
    package internal(set) var division: TrackDivision?
}
