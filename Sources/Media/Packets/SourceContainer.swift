package import LibAV

/// Properties of a source's container, by libavformat's demuxer. Containers without specific properties have the
/// defaults.
package struct SourceContainer: Sendable {
    /// libavformat's name of the demuxer, which may be a list (`mov,mp4,m4a,3gp,3g2,mj2`).
    package let name: String
    private let names: Set<String>

    package init(_ name: String) {
        self.name = name
        names = Set(name.split(separator: ",").map(String.init))
    }

    /// Names by which job files refer to containers that can be read: those of demuxers, and of `ContainerType`.
    package static let knownNames =
        ContainerType.names
        + InputLimits.formats.filter {
            !ContainerType.names.contains($0)
        }

    /// All names by which job files refer to this container.
    package var allNames: [String] {
        let types = ContainerType.all.filter { names.contains($0.model.demuxer ?? $0.name) }.map(\.name)
        return types + names.filter { !types.contains($0) }.sorted()
    }

    /// A container of unknown format, which has the defaults.
    static let unknown = SourceContainer("")
    /// A test pattern, which has no packets.
    static let pattern = SourceContainer("pattern")
    static let images = SourceContainer("images")
    /// A composition; the packets come from its sources.
    static let composition = SourceContainer("composition")

    /// Whether the container is MP4 or QuickTime: it has edit lists, and an index with all properties of packets
    /// except for their durations.
    package var isMovie: Bool { names.contains("mov") }
    /// Whether the container is Matroska or WebM.
    package var isMatroska: Bool { names.contains("matroska") }
    /// Whether the container is a WebVTT file.
    package var isWebVTT: Bool { names.contains("webvtt") }
    /// Whether the container is an image file, for which libavformat has a demuxer of each format (`png_pipe`).
    package var isImageFile: Bool { names.contains { $0.hasSuffix("_pipe") } }
    /// Whether libavformat subtracts the padding of the last packet from its duration.
    var shortensLastPacket: Bool { names.contains("ogg") }
    /// Whether data is in numbered pages (Ogg). Page positions may count from any origin, streams may be chained, and
    /// only the page numbers reveal a missing page.
    var hasPages: Bool { names.contains("ogg") }
    /// Whether the metadata of a single track applies to the file.
    package var hasTagsInStream: Bool { names.contains("ogg") }
    /// Whether libavformat's parser completes a frame only when the next one starts, and assigns it the flags of the
    /// next frame's packet.
    var flagsPrecedeFrame: Bool { hasArbitraryStart }
    /// Whether a tag contains the encoder delay, and chapter times count from the start of the presented audio.
    var storesDelayInTags: Bool { names.contains("mp3") }
    /// Whether packets have decoding times but no presentation times.
    var storesOnlyDecodingTimes: Bool { names.contains("avi") }
    /// Whether timestamps may start at any value.
    package var hasArbitraryStart: Bool { names.contains("mpegts") }
    /// Whether the container declares no duration, so that it is estimated from the last timestamps or the bit rate.
    package var estimatesDurations: Bool {
        hasArbitraryStart
            || !names.isDisjoint(with: [
                "aac", "mp3", "ac3", "eac3", "dts", "h264", "hevc", "mpegvideo", "mpeg",
            ])
    }
    /// Returns whether every packet of a track of this type has a presentation time, regardless of the codec. In a
    /// transport stream, packets of data may have none.
    package func storesPresentationTimes(of type: MediaType) -> Bool {
        isMovie || type != .data && (isMatroska || hasArbitraryStart)
    }
    /// Returns whether libavformat guesses a codec's times after a seek; such a track is read from its beginning.
    func estimatesTimes(ofCodec codec: String) -> Bool { names.contains("ogg") && codec == "flac" }
    /// Whether all frames have the same duration, without gaps.
    package var hasConstantFrameRate: Bool {
        ["pattern", "images", "composition"].contains(where: names.contains)
    }

    /// Returns the stages that a track's packets require regardless of the range; `gate` drops packets after a seek.
    func stages(of track: AssetTrack, gate: KeyFrameGate) -> [any PacketStage] {
        var stages: [any PacketStage] = []
        if isMovie {
            if let shift = track.lostTimesShift { stages.append(LostCompositionTimes(shift: shift)) }
            stages.append(PacketDurations(track))
        } else if let fields = FieldJoiner(track) {
            stages.append(fields)
        }
        if let times = PTSGenerator(track) { stages.append(times) }
        if let counted = vorbis(track) { stages.append(counted) }
        if estimatesTimes(ofCodec: track.format.codec), track.mediaType == .audio {
            stages.append(FLACTimestamps(sampleRate: track.format.sampleRate, timeBase: track.timeBase))
        }
        if track.mediaType == .video { stages.append(gate) }
        return stages
    }

    /// Returns the stage that counts the times of Vorbis in Ogg, where a page has one position for all of its packets;
    /// nil for other tracks.
    private func vorbis(_ track: AssetTrack) -> VorbisTimestamps? {
        guard names.contains("ogg"), track.format.codec == "vorbis" else { return nil }
        return VorbisTimestamps(track.format.parameters)
    }
}
