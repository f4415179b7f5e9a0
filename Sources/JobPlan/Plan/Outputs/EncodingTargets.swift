extension OutputPlan {
    /// Returns a value of the first encoding that has it, with the index of the track; nil without one.
    func firstEncoded<Target>(
        with target: (TrackPlan.Encoding) -> Target?
    ) -> (value: Target, track: Int)? {
        for (index, track) in tracks.enumerated() {
            if let value = track.encoding.flatMap(target) { return (value, index) }
        }
        return nil
    }
}

extension JobPlan {
    /// Returns the plan with changed encodings of the tracks that have a target. `values` are passed to `change`, by output
    /// index.
    func changing<Target, Value>(
        _ values: [Int: Value], ofTracksWith target: (TrackPlan.Encoding) -> Target?,
        _ change: (inout TrackPlan.Encoding, Value) -> Void
    ) -> JobPlan {
        var plan = self
        for (output, value) in values {
            guard let (_, track) = outputs[output].firstEncoded(with: target),
                case .encode(var encoding) = outputs[output].tracks[track].action
            else { continue }
            change(&encoding, value)
            plan.outputs[output].tracks[track].action = .encode(encoding)
        }
        return plan
    }
}
