internal import LibAV

extension DemuxerModel {
    /// Returns the stages that a track's packets require regardless of the range; `gate` drops packets after a seek.
    func stages(of track: AssetTrack, gate: KeyFrameGate) -> [any PacketStage] {
        var stages: [any PacketStage] = []
        if isMovie {
            if let shift = track.lostTimesShift { stages.append(LostCompositionTimes(shift: shift)) }
            stages.append(PacketDurations(track))
        } else if let fields = FieldJoiner(track) {
            stages.append(fields)
        }
        if splitsDisplaySets, track.format.parameters.traits.displaySets == .pgs {
            stages.append(DisplaySetJoiner())
        }
        if let times = PTSGenerator(track) { stages.append(times) }
        if let counted = vorbis(track) { stages.append(counted) }
        if estimatedCodecs.contains(track.format.codec), track.mediaType == .audio {
            stages.append(FLACTimestamps(sampleRate: track.format.sampleRate, timeBase: track.timeBase))
        }
        if track.mediaType == .video { stages.append(gate) }
        return stages
    }

    /// Returns the properties that a demuxer determines if only the times of a track's keyframes are used. Their data isn't
    /// read if the container states which packets are keyframes, and neither libavformat nor a stage parses packets. In mp4
    /// and mov, libavformat replaces the flags of H.264 by those of its parser, which reads up to the first slice.
    func keyFrameDiscovery(of track: AssetTrack) -> StreamDiscovery {
        isMovie && track.mediaType == .video && track.format.parameters.traits.parameterSets == .hevc
            ? .counting : .known
    }

    /// Returns the stage that counts the times of Vorbis in Ogg, where a page has one position for all of its packets;
    /// nil for other tracks.
    private func vorbis(_ track: AssetTrack) -> VorbisTimestamps? {
        guard codecsOfSharedPositions.contains(track.format.codec) else { return nil }
        return VorbisTimestamps(track.format.parameters)
    }
}
