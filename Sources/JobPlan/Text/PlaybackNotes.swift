internal import LibAV
internal import Media

/// Notes about properties of an output that many players don't support. They are valid, but often unintended.
enum PlaybackNotes {
    /// Returns a note for each track with such properties.
    static func of(_ tracks: [TrackPlan]) -> [String] {
        tracks.compactMap { track in
            guard track.source.mediaType == .video, !track.source.isAttachedPicture,
                let codec = track.outputCodec
            else { return nil }
            var (format, color) = (track.source.pixelFormat, track.source.color)
            if case .encode(let encoding) = track.action {
                (format, color) = (encoding.encoder.pixelFormat, encoding.encoder.color)
            }
            guard let what = problem(codec, format, color) else { return nil }
            return "track \(track.source.index): \(what)"
        }
    }

    private static func problem(_ codec: String, _ format: PixelFormat, _ color: ColorDescription) -> String?
    {
        guard let name = BitstreamTraits.of(codec).playsPlainAs else { return nil }
        var parts: [String] = []
        if format.bitDepth > 8 { parts.append("\(format.bitDepth) bits") }
        switch format.chromaSubsampling {
        case (1, 1) where format.hasChroma: parts.append("4:4:4")
        case (2, 1): parts.append("4:2:2")
        default: if format.isRGB { parts.append("RGB") }
        }
        if color.isHighRange {
            parts.append("HDR (\(color.transfer ?? ""))")
        }
        guard !parts.isEmpty else { return nil }
        let remedy = color.isHighRange ? "color: sdr" : "pixel_format: yuv420p"
        return
            "\(name) with \(parts.joined(separator: ", ")) is not supported by browsers and most hardware decoders; use `\(remedy)`, or another codec"
    }
}
