internal import Diagnostics
internal import LibAV
package import Media

/// What tracks are called in ledgers and comments.
package enum LedgerText {
    /// Kind, codec, size or rate, language.
    package static func name(_ track: TrackDescription) -> String {
        TextRenderer.printable(plainName(track))
    }

    /// The same as it stands in plans; what prints it takes care of what a source wrote into it.
    static func plainName(_ track: TrackDescription) -> String {
        if track.isAttachedPicture { return "cover \(track.codec)" }
        var parts = [track.mediaType.rawValue, track.codec == "none" ? "unknown codec" : track.codec]
        if track.mediaType == .video { parts.append("\(track.width)x\(track.height)") }
        if track.mediaType == .audio {
            parts.append("\(track.sampleRate) Hz")
            if let layout = track.channelLayout { parts.append(layout.description) }
        }
        if let file = track.fileName { parts.append("`\(file)`") }
        if let language = track.language { parts.append("(\(language))") }
        return parts.joined(separator: " ")
    }
}
