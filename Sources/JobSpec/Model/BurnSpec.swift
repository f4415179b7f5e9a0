package import Diagnostics

/// The style of subtitles that are drawn into frames, which overrides their own.
package struct SubtitleStyleSpec: Sendable {
    package var font: Located<String>?
    /// Font size in pixels.
    package var size: Located<Int>?
    /// Color as `RRGGBB`.
    package var color: Located<String>?

    /// Location of the first value that is set; nil if there is none.
    package var range: SourceRange? { font?.range ?? size?.range ?? color?.range }
}

/// Subtitles that are drawn into the frames of an encoding.
package struct BurnSpec: Sendable {
    /// The subtitle track, of the source or of `file`.
    package var selection: TrackSelection
    /// The file with the subtitles; nil for the source.
    package var file: SubtitleFileSpec? = nil
    /// Whether the frames are encoded without subtitles if there is no such track or file.
    package var isOptional = false
    package var style = SubtitleStyleSpec()
    /// Location in the job file.
    package var range: SourceRange
}
