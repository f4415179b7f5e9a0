internal import JobSpec
internal import LibAV
internal import Media

/// The planner of `scale: auto`: reduces the frame of a track until its target size allows a sensible bit rate.
struct ScalePlanner {
    /// Tracks of the output.
    let tracks: [TrackPlan]
    /// Index of the track with the target size.
    let position: Int
    /// The rule that selects the track.
    let rule: TrackRule
    /// The planner of the track at other sizes.
    let planner: TrackPlanner
    /// Returns tracks with their bit rates; nil if the target size can't be reached.
    let fit: ([TrackPlan]) -> TargetSizePlanner.Fitted?

    /// Bits per pixel and frame below which the frame is reduced: 1 Mb/s at 1920x1080 and 25 frames a second.
    static let sensibleBitsPerPixel = 0.02
    /// Shorter sides of the frames to which it is reduced.
    static let shorterSides = [1080, 720, 540, 480, 360, 240]

    /// Returns the tracks with the reduced one; nil without `scale: auto`, or if the frame remains.
    func decide() -> Decision<[TrackPlan]> {
        var reasons = Reasons()
        guard let encoder = tracks[position].encoding?.encoder, let scale = rule.action.video?.scale,
            scale.value == .auto, !isSensible(tracks)
        else { return Decision(nil) }
        let whole = PixelSize(width: encoder.width, height: encoder.height)
        var scaled = tracks
        for side in Self.shorterSides where side < min(whole.width, whole.height) {
            var smaller = rule
            smaller.action = rule.action.scaled(from: whole, toShorterSide: side, at: scale.range)
            let decision = planner.decide(tracks[position].source, by: smaller, mix: nil, at: position)
            guard let track = decision.value else { break }
            scaled[position] = track
            if isSensible(scaled) { break }
        }
        guard let now = scaled[position].encoding?.encoder, now.width != whole.width else {
            return Decision(nil)
        }
        reasons.note(
            "\(tracks[position].label) is scaled from \(whole) to \(now.width)x\(now.height) (`scale`), because `target_size` allows fewer than \(Self.sensibleBitsPerPixel) bits per pixel and frame"
        )
        return Decision(scaled, reasons)
    }

    private func isSensible(_ tracks: [TrackPlan]) -> Bool {
        fit(tracks).map { $0.bitsPerPixel >= Self.sensibleBitsPerPixel } ?? false
    }
}
