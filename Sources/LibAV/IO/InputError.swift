public import Errors
internal import Glibc

/// An error that prevents a source from being opened.
public struct InputError: TandemError, Hashable {
    /// The cause of an error.
    public enum Reason: Hashable, Sendable {
        /// The file can't be read.
        case file(FileSourceProblem)
        /// A playlist, a script or another format that refers to other files.
        case referencesFiles(format: String)
        /// A format that isn't on the list of allowed ones.
        case formatNotAllowed(format: String)
        /// The content isn't a media format that libavformat supports.
        case unrecognized
        /// libavformat returned an error.
        case library(AVError)
        /// The file is shorter than its header declares; sizes in bytes.
        case truncated(expected: Int64, actual: Int64)
        /// A subtitle file that isn't UTF-8, with the number of the first invalid line.
        case notUTF8(line: Int)
        /// An ASS file whose events have unexpected fields, with the number of the line that declares them.
        case unexpectedFields(line: Int)
        /// A WebVTT cue with invalid times, with its line number.
        case unreadableCue(line: Int)
        /// The file has no tracks.
        case noTracks
        /// The file doesn't contain exactly one image.
        case noImage(format: String)
        /// The source is a URL, and network access isn't allowed.
        case networkNotAllowed
        /// The URL can't be opened or read.
        case notFetched(AVError)
        /// The server doesn't report the size, or doesn't support range requests.
        case notSeekable
        /// The number of tracks exceeds the limit.
        case tooManyTracks(Int)
        /// The number of chapters exceeds the limit.
        case tooManyChapters(Int)
        /// The number of tags of the file, or of one of its tracks, exceeds the limit.
        case tooManyTags(Int)
    }

    /// Path or URL as passed to `open`.
    public var path: String
    /// Cause of the error.
    public var reason: Reason

    /// Creates an error for a path or URL.
    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    /// Explanation in one line for the user, without the path.
    package var explanation: String {
        switch reason {
        case .file(.missing): "no such file"
        case .file(.directory): "is a directory, not a media file"
        case .file(.notRegular): "is a pipe, device or socket, not a file"
        case .file(.empty): "the file is empty"
        case .file(.outsideRoot):
            "it is outside of --root, or a link leads out of it"
        case .file(.system(let code)): AVError(code: -code, operation: "open").reason.lowercased()
        case .referencesFiles(let format):
            "playlists and scripts (\(format)) are not supported, because they refer to other files"
        case .formatNotAllowed(let format): "the format \(format) is not supported"
        case .unrecognized: "its content is not a media format that this build supports"
        case .library(let error): "can't be read as media: \(error)"
        case .truncated(let expected, let actual):
            "it is truncated: it has \(actual) of \(expected) bytes"
        case .notUTF8(let line):
            "line \(line) is not UTF-8; convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
        case .unexpectedFields(let line):
            "line \(line) declares unusual event fields, or another order, which is not supported"
        case .unreadableCue(let line):
            "line \(line) has invalid times; expected times such as 00:01:02.500 --> 00:01:04.000"
        case .networkNotAllowed: "it is a URL, and network access is not allowed"
        case .notFetched(let error): "can't be fetched: \(error.reason)"
        case .notSeekable: "the server doesn't report the size, or doesn't support range requests"
        case .noTracks: "it contains no track"
        case .noImage(let format): "it is not a file with a single image (its content is \(format))"
        case .tooManyChapters(let count):
            "it has \(count) chapters; at most \(InputLimits.maxChapters) are supported"
        case .tooManyTags(let count): "it has \(count) tags; at most \(InputLimits.maxTags) are supported"
        case .tooManyTracks(let count): "it has \(count) tracks, which exceeds the limit"
        }
    }

    /// The kind of the error, by its reason.
    public var kind: ErrorKind {
        switch reason {
        case .file(.missing): .notFound
        case .file(.directory), .file(.notRegular): .notReadable
        case .file(.outsideRoot), .file(.system(EACCES)), .file(.system(EPERM)): .accessDenied
        case .file(.system(ENOMEM)): .outOfMemory
        case .file(.system(ENOTDIR)), .file(.system(ENAMETOOLONG)): .notFound
        case .file(.system): .notReadable
        case .file(.empty), .truncated, .notUTF8, .unexpectedFields, .unreadableCue: .damagedData
        case .referencesFiles, .formatNotAllowed, .unrecognized, .noImage, .notSeekable: .unsupportedFormat
        case .library(let error): error.kind == .failed ? .notReadable : error.kind
        case .notFetched(let error): error.kind == .notFound ? .notFound : .networkFailed
        case .noTracks: .noSuchTrack
        case .networkNotAllowed: .networkNotAllowed
        case .tooManyTracks, .tooManyChapters, .tooManyTags: .limitExceeded
        }
    }

    /// Path and explanation in one line.
    public var description: String { "\(path): \(explanation)" }
}
