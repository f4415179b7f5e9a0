/// Paths of a package's files, relative to its folder. The manifests that players open are at the top; all files of a
/// rendition are in the folder that its id names.
package struct PackageLayout: Hashable, Sendable {
    /// Division of renditions into files.
    package let files: PackageFiles
    /// Container of audio and video segments.
    package let container: SegmentContainer

    package init(files: PackageFiles, container: SegmentContainer = .mp4) {
        (self.files, self.container) = (files, container)
    }

    /// Path of HLS's multivariant playlist.
    package var multivariantPlaylist: String { "master.m3u8" }
    /// Path of DASH's media presentation description.
    package var presentationDescription: String { "manifest.mpd" }

    /// Returns the path of a rendition's media playlist.
    package func playlist(of id: String) -> String { "\(id)/playlist.m3u8" }
    /// Returns the path of a rendition's playlist of keyframes.
    package func keyframePlaylist(of id: String) -> String { "\(id)/keyframes.m3u8" }
    /// Returns the path of an audio or video rendition's initialization section, or of the file that contains it. Transport
    /// streams have none.
    package func initialization(of id: String) -> String { "\(id)/\(initializationName)" }
    /// Returns the path of an audio or video segment, or of the file that contains it. `index` counts from 0.
    package func segment(_ index: Int, of id: String) -> String { "\(id)/\(segmentName(index))" }
    /// Returns the path of the file with all cues of a subtitle rendition.
    package func subtitles(of id: String) -> String { "\(id)/\(subtitlesName)" }
    /// Returns the path of a segment of subtitles. `index` counts from 0.
    package func subtitleSegment(_ index: Int, of id: String) -> String {
        "\(id)/\(subtitleSegmentName(index))"
    }

    /// Returns the path of a sheet of thumbnails.
    package func thumbnails(_ sheet: ThumbnailSheet, of id: String) -> String {
        "\(id)/\(thumbnailsName(sheet))"
    }

    // MARK: Names in a rendition's folder, to which its playlists refer

    var initializationName: String { files == .many ? "init.mp4" : "media.mp4" }
    var subtitlesName: String { "subtitles.vtt" }

    func segmentName(_ index: Int) -> String {
        switch container {
        case .mp4: files == .many ? "\(Self.number(index)).m4s" : "media.mp4"
        case .ts: files == .many ? "\(Self.number(index)).ts" : "media.ts"
        }
    }

    func subtitleSegmentName(_ index: Int) -> String { "\(Self.number(index)).vtt" }

    func thumbnailsName(_ sheet: ThumbnailSheet) -> String {
        "\(Self.number(0)).\(sheet.format.fileExtension)"
    }

    /// Template of the paths of thumbnails for DASH, in which identifiers are numbers from 1.
    func thumbnailsTemplate(_ sheet: ThumbnailSheet) -> String {
        "$RepresentationID$/$Number%05d$.\(sheet.format.fileExtension)"
    }

    /// Template of segment paths for DASH, in which identifiers are numbers from 1.
    var segmentTemplate: String { "$RepresentationID$/$Number%05d$.m4s" }
    /// Template of initialization sections' paths for DASH.
    var initializationTemplate: String { "$RepresentationID$/\(initializationName)" }

    /// Returns the number in a segment's name, from 00001.
    private static func number(_ index: Int) -> String { padded(Int64(index) + 1, digits: 5) }
}

/// Returns a number that isn't negative, with leading zeros.
func padded(_ number: Int64, digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
