internal import Diagnostics
internal import LibAV
package import Media

/// The names of tracks in ledgers and comments.
package enum LedgerText {
    /// Returns type, codec, size or rate, and language of a track, safe to print.
    package static func name(_ track: TrackDescription) -> String {
        TextRenderer.printable(plainName(track))
    }

    /// Returns the name as plans contain it. Untrusted text of the source is escaped only when it is printed.
    static func plainName(_ track: TrackDescription) -> String {
        if track.isAttachedPicture { return "cover \(track.codec)" }
        var parts = [track.mediaType.rawValue, track.knownCodec ?? "unknown codec"]
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
