/// What an output consists of. Whatever differs between kinds is a `switch` over this type: a new kind doesn't compile until
/// every stage handles it.
package enum OutputKind: Hashable, Sendable {
    /// Tracks in a container.
    case media
    /// Still images of the one track, as files of their own, a sheet or an animation.
    case images(ImagesPlan)
    /// A waveform of the one track.
    case waveform(WaveformPlan)
}

extension OutputPlan {
    /// The kind. In JSON and in messages each kind but `media` is a key of its own, of which there is one at most.
    package var kind: OutputKind {
        get {
            if let images { return .images(images) }
            if let waveform { return .waveform(waveform) }
            return .media
        }
        set {
            (images, waveform) = (nil, nil)
            switch newValue {
            case .media: break
            case .images(let plan): images = plan
            case .waveform(let plan): waveform = plan
            }
        }
    }

    /// Whether the coded form names one kind at most: asked of a plan that comes from outside.
    var hasOneKind: Bool { images == nil || waveform == nil }

    /// Whether the output is tracks in a container.
    package var isMedia: Bool {
        switch kind {
        case .media: true
        case .images, .waveform: false
        }
    }
}
