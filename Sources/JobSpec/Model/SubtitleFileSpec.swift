/// A file with subtitles beside the source of a job, as the job file names it.
package struct SubtitleFileSpec: Equatable, Sendable {
    /// Path as written.
    package var path: Located<String>
    /// Language of the tracks for which the file states none; nil if unknown.
    package var language: String?
}
