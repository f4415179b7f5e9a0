package import LibAV

/// A state of a track's time line that restricts what can be done with its packets.
package enum TrackState: String, CaseIterable, Codable, Sendable {
    /// The start of the track is decoded but not presented.
    case hiddenBeginning = "hidden beginning"
    /// Presented frames may refer to frames that an edit list hides.
    case hiddenInside = "hidden inside"
    /// Decoding times don't increase, or exceed presentation times.
    case unordered = "unordered times"
    /// Some packets require other headers than the track's, as in concatenated files.
    case changingHeaders = "changing headers"
    /// Frames are reordered, but packets have only decoding times.
    case lostTimes = "lost presentation times"
    /// The track begins before its first keyframe, so that frames with missing references are dropped.
    case lateKeyframe = "late first keyframe"
}

/// A kind of a track's side data, or a state of its time line. It is encoded as its name.
package enum TrackProperty: Hashable, Sendable {
    case sideData(SideDataKind)
    case state(TrackState)
}

extension TrackProperty: Codable {
    package init(from decoder: any Decoder) throws {
        let name = try decoder.singleValueContainer().decode(String.self)
        self = TrackState(rawValue: name).map(Self.state) ?? .sideData(SideDataKind(rawValue: name))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .sideData(let kind): try container.encode(kind.rawValue)
        case .state(let state): try container.encode(state.rawValue)
        }
    }
}
