internal import Glibc

/// Why a source could not be opened.
public struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What stood in the way.
    public enum Reason: Hashable, Sendable {
        /// The file itself.
        case file(FileSourceProblem)
        /// It is a playlist, a script or something else that would read other files.
        case refersElsewhere(format: String)
        /// A format that is not on the list of those opened.
        case formatNotAllowed(format: String)
        /// Its content is no media format that libavformat knows.
        case unrecognized
        /// libavformat failed on it.
        case library(AVError)
        /// The file is shorter than it says itself, in bytes.
        case truncated(expected: Int64, got: Int64)
        /// A file of subtitles whose text is not UTF-8, and from which line on.
        case notUTF8(line: Int)
        /// ASS whose events have other fields than usual, and where it says so.
        case otherFields(line: Int)
        /// A cue whose times can't be read, and its line.
        case unreadableCue(line: Int)
        /// No track in it.
        case noTracks
        /// It is no file of one image.
        case noImage(format: String)
        /// A URL, and nobody allowed the network.
        case networkNotAllowed
        /// A URL that can't be fetched.
        case notFetched(AVError)
        /// A server that doesn't say how much there is, or gives no parts of it.
        case notSeekable
        /// More tracks than the limit.
        case tooManyTracks(Int)
        /// More chapters than the limit.
        case tooManyChapters(Int)
        /// More tags of the file, or of one of its tracks, than the limit.
        case tooManyTags(Int)
    }

    /// The path as it was asked for.
    public var path: String
    /// What stood in the way.
    public var reason: Reason

    /// Makes an error.
    public init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    /// One line for people, without the path.
    public var explanation: String {
        switch reason {
        case .file(.missing): "no such file"
        case .file(.directory): "is a directory, not a media file"
        case .file(.notRegular): "is a pipe, device or socket, not a file"
        case .file(.empty): "the file is empty"
        case .file(.outsideRoot):
            "it lies outside --root, or a link leads out of it"
        case .file(.system(let code)): AVError(code: -code, operation: "open").reason.lowercased()
        case .refersElsewhere(let format):
            "its content is a playlist or script (\(format)), which would read other files; it is refused"
        case .formatNotAllowed(let format): "the format \(format) is not one that is opened"
        case .unrecognized: "its content is no media format that this build knows"
        case .library(let error): "can't be read as media: \(error)"
        case .truncated(let expected, let got):
            "it is truncated: it says it has \(expected) bytes, and has \(got)"
        case .notUTF8(let line):
            "line \(line) is not UTF-8: bring the file to it, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
        case .otherFields(let line):
            "line \(line) gives events other fields than usual, or in another order: that is not read"
        case .unreadableCue(let line):
            "line \(line) has no times that can be read: they are written as 00:01:02.500 --> 00:01:04.000"
        case .networkNotAllowed: "it is a URL, and the network is not allowed"
        case .notFetched(let error): "can't be fetched: \(error.reason)"
        case .notSeekable: "the server doesn't say how long it is, or gives no parts of it"
        case .noTracks: "there is no track in it"
        case .noImage(let format): "it is no file of one image (its content is \(format))"
        case .tooManyChapters(let count):
            "it has \(count) chapters; at most \(InputLimits.maxChapters) are read"
        case .tooManyTags(let count): "it has \(count) tags; at most \(InputLimits.maxTags) are read"
        case .tooManyTracks(let count): "it has \(count) tracks, more than the limit"
        }
    }

    /// Path and explanation.
    public var description: String { "\(path): \(explanation)" }
}
