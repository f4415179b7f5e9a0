package import Media

package enum ProbeResponse: Codable, Sendable {
    /// Description of the source's contents.
    case description(SourceDescription)
    /// Whether the packets have presentation times.
    case presentationTimes(Bool)
    /// Reason why the packets can't be copied in their order; nil if they can.
    case order(OrderProblem?)
    /// Possibilities of copying; nil if the track no longer exists.
    case cut(CutPossibilities?)
    /// Properties of the audio packets; nil if the track no longer exists.
    case audioFormat(AudioPacketFormat?)
    /// Presentation times of keyframes, or of the first frames of scenes, in order.
    case keyFrames([MediaTime])
    /// Positions of the frames requested by number.
    case frames(FramePositions)
    /// Whether a subtitle event exists in the ranges.
    case presence(Bool)
    /// Frame rate at which every frame is shown; nil if the track no longer exists.
    case cadence(FrameCadence?)
    /// Size of packets in bytes.
    case byteCount(Int64)
    /// Rectangle of the coded frame; nil if the track no longer exists, or if all examined frames are black.
    case activeArea(PixelRectangle?)
    /// Loudness of audio; nil if the track no longer exists.
    case loudness(LoudnessBlocks?)
    case cover(CoverImage)
    case fileContents(FileContents)
    /// Result of a dry open.
    case verdict(SettingsValidation.Outcome)
}

/// The possibilities of copying a range of a video track.
package struct CutPossibilities: Codable, Sendable {
    /// Reason why the range can't be copied unchanged; nil if it can.
    package var problem: CutScan.Problem?
    /// Reason why it can't be copied without the leading frames of its first keyframe; nil if it can.
    package var problemWithoutLeading: CutScan.Problem?
    /// Last keyframe at or before the range's start; nil if there is none.
    package var outwardStart: MediaTime?
    /// First clean end at or after the range's end; nil for the track's end.
    package var outwardEnd: MediaTime?
    /// The smart cut, exact to the frame, if requested and possible.
    package var smart: SmartCut?
    /// Reason why a smart cut isn't possible.
    package var obstacle: SmartCut.Obstacle?
    /// Properties of the packets, which must match to join the packets of several sources; nil for a cut of a single
    /// source.
    package var packetFormat: VideoPacketFormat?
}
