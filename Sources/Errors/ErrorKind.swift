/// The kind of an error, for programs that handle some errors differently (AVFoundation's `AVError.Code`).
///
/// Raw values are stable. Later versions may add kinds, so a `switch` needs a `default`.
public enum ErrorKind: String, Codable, Hashable, Sendable, CaseIterable {
    // MARK: Sources

    /// No file or resource is at the path or URL.
    case notFound
    /// The source isn't a regular file, or reading it failed.
    case notReadable
    /// The system denied access to the source, or it is outside the environment's root.
    case accessDenied
    /// The source is a URL, and the environment doesn't allow network access.
    case networkNotAllowed
    /// A server can't be reached, or returned an error.
    case networkFailed
    /// A container, codec or variant of one that isn't supported.
    case unsupportedFormat
    /// The data is damaged, truncated or contradictory.
    case damagedData
    /// The source changed after it was loaded.
    case sourceChanged
    /// A limit on the number of tracks, chapters, tags, pixels or subtitle events is exceeded.
    case limitExceeded
    /// The asset has no such track.
    case noSuchTrack
    /// The track has no samples in the range.
    case noSamples

    // MARK: Outputs

    /// A file exists at the destination.
    case destinationExists
    /// The destination's folder doesn't exist, or a file can't be created in it.
    case destinationNotWritable
    /// The file system has no space left.
    case diskFull
    /// The output exceeds its size limit.
    case sizeLimitExceeded
    /// An encoder that this build lacks, or that can't be opened on this machine.
    case encoderNotAvailable
    /// The encoder returned an error.
    case encodingFailed
    /// A setting is out of bounds, or not supported by the encoder or the container.
    case invalidSettings
    /// The packets or the range don't allow the track to be copied.
    case notCopyable

    // MARK: Calls and sessions

    /// A call at the wrong time, such as a second start: an error of the program.
    case misuse
    /// An argument that the call doesn't accept, such as a range outside the asset. It may come from the user.
    case invalidArgument
    /// No data was processed for longer than the time limit.
    case stalled
    /// The work was cancelled. Such calls throw `CancellationError`, whose kind is this one.
    case cancelled
    /// Memory could not be allocated.
    case outOfMemory
    /// A job file is invalid.
    case invalidJobFile
    /// An output doesn't meet an expectation of its job.
    case expectationNotMet
    /// Any other failure; the message describes it.
    case failed

    /// Returns the kind of any error that a call of the library throws.
    public init(_ error: any Error) {
        switch error {
        case let error as any TandemError: self = error.kind
        case is CancellationError: self = .cancelled
        default: self = .failed
        }
    }
}

extension ErrorKind {
    /// A remedy that applies to all errors of the kind; nil if there is none.
    var recoverySuggestion: String? {
        switch self {
        case .networkNotAllowed:
            "Allow network access in the asset's environment, or download the file first."
        case .damagedData: "Set the reader's damage policy to `skip` to skip and count damaged data."
        case .destinationExists: "Choose another name, or remove the file."
        case .destinationNotWritable: "Create the folder, or choose one in which files can be created."
        case .diskFull: "Free space on the destination's file system."
        case .encoderNotAvailable: "Use another codec, or a build of FFmpeg that contains the encoder."
        case .notCopyable: "Encode the track instead of copying it."
        case .stalled: "Append samples to the inputs that the message names, or mark them as finished."
        case .notFound, .notReadable, .accessDenied, .networkFailed, .unsupportedFormat, .sourceChanged,
            .limitExceeded, .noSuchTrack, .noSamples, .sizeLimitExceeded, .encodingFailed, .invalidSettings,
            .misuse, .invalidArgument, .cancelled, .outOfMemory, .invalidJobFile, .expectationNotMet, .failed:
            nil
        }
    }
}
