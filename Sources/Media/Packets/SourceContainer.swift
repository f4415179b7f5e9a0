package import LibAV

/// What the container of a source means for who reads it, stated once for each of libavformat's demuxers. Of what isn't named,
/// nothing is known.
package struct SourceContainer: Sendable {
    /// libavformat's name of the demuxer, which may be a list (`mov,mp4,m4a,3gp,3g2,mj2`).
    package let name: String
    private let names: Set<String>

    /// What is known of a container by libavformat's name of its demuxer.
    package init(_ name: String) {
        self.name = name
        names = Set(name.split(separator: ",").map(String.init))
    }

    /// Of packets about whose container nothing is to be assumed.
    static let unknown = SourceContainer("")
    /// What a generator gives: no packets.
    static let pattern = SourceContainer("pattern")
    /// Images that are shown one after the other.
    static let images = SourceContainer("images")
    /// Several sources on one time line.
    static let composition = SourceContainer("composition")

    /// MP4 and QuickTime: edit lists, an index that says everything of a packet but how long it lasts.
    package var isMovie: Bool { names.contains("mov") }
    /// Matroska and WebM.
    package var isMatroska: Bool { names.contains("matroska") }
    /// libavformat takes what is not heard of the last packet off its duration by itself.
    var shortensLastPacket: Bool { names.contains("ogg") }
    /// Its data are in numbered pages (Ogg), which state where their audio ends, counted from any origin. One stream may follow another, and
    /// nothing but the numbers shows that a page is missing.
    var hasPages: Bool { names.contains("ogg") }
    /// The tags of its one track are the file's.
    package var hasTagsInStream: Bool { names.contains("ogg") }
    /// libavformat's parser ends a frame when it sees the next one, and gives it the flags of the packets that brought that
    /// one.
    var flagsComeEarly: Bool { beginsAnywhere }
    /// Its tags say an encoder's delay, and its chapters count from where audio is heard, not from where that begins.
    var saysDelayInTags: Bool { names.contains("mp3") }
    /// It says when packets are decoded, and not when they are shown.
    var saysDecodingTimesAlone: Bool { names.contains("avi") }
    /// Its clock begins anywhere.
    package var beginsAnywhere: Bool { names.contains("mpegts") }
    /// Nothing in it says how long it is, which is guessed from its last times or from its bit rate.
    package var guessesLengths: Bool {
        beginsAnywhere
            || !names.isDisjoint(with: [
                "aac", "mp3", "ac3", "eac3", "dts", "h264", "hevc", "mpegvideo", "mpeg",
            ])
    }
    /// Every packet of that kind of track says when it is shown, whatever the codec. A transport stream says it of frames,
    /// but maybe not of data.
    package func saysPresentationTimes(of type: MediaType) -> Bool {
        isMovie || type != .data && (isMatroska || beginsAnywhere)
    }
    /// After a seek libavformat guesses the times of that codec: it is read from the beginning.
    func guessesTimes(ofCodec codec: String) -> Bool { names.contains("ogg") && codec == "flac" }
    /// A frame is as long as every other, and each comes.
    package var hasConstantFrameRate: Bool {
        ["pattern", "images", "composition"].contains(where: names.contains)
    }

    /// What its packets go through before anything is known of the range that is read; `gate` is where a seek begins.
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
        if guessesTimes(ofCodec: track.format.codec), track.mediaType == .audio {
            stages.append(FLACTimestamps(sampleRate: track.format.sampleRate, timeBase: track.timeBase))
        }
        if track.mediaType == .video { stages.append(gate) }
        return stages
    }

    /// Pages say one position for all of their packets.
    private func vorbis(_ track: AssetTrack) -> VorbisTimestamps? {
        guard names.contains("ogg"), track.format.codec == "vorbis" else { return nil }
        return VorbisTimestamps(track.format.parameters)
    }
}
