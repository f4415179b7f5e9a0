package import Publishing

/// The kind of an output. Code that differs between kinds is a `switch` over this type, so that a new kind doesn't
/// compile until every stage handles it.
package enum OutputKind: Hashable, Sendable {
    /// Tracks in a container.
    case media
    /// Still images of the only track, as separate files, a sheet or an animation.
    case images(ImagesPlan)
    /// A waveform of the only track.
    case waveform(WaveformPlan)
    /// A check of the source, which writes nothing.
    case check(CheckPlan)
    /// A folder of renditions with manifests.
    case package(PackagePlan)
}

extension OutputPlan {
    /// Kind of the output. In encoded form, each kind except `media` is a separate key, of which at most one is
    /// present.
    package var kind: OutputKind {
        get {
            if let images { return .images(images) }
            if let waveform { return .waveform(waveform) }
            if let check { return .check(check) }
            if let package { return .package(package) }
            return .media
        }
        set {
            (images, waveform, check, package) = (nil, nil, nil, nil)
            switch newValue {
            case .media: break
            case .images(let plan): images = plan
            case .waveform(let plan): waveform = plan
            case .check(let plan): check = plan
            case .package(let plan): package = plan
            }
        }
    }

    /// Whether the encoded form contains at most one kind. Checked for plans from untrusted input.
    var hasOneKind: Bool {
        [images != nil, waveform != nil, check != nil, package != nil].count { $0 } <= 1
    }

    /// Whether the output consists of tracks in a container.
    package var isMedia: Bool {
        switch kind {
        case .media: true
        case .images, .waveform, .check, .package: false
        }
    }

    /// Whether the output is a check. A check is the only output of its job.
    package var isCheck: Bool { check != nil }

    /// Whether the output is a file or a folder.
    package var destinationKind: DestinationPath.Kind { package == nil ? .file : .folder }
}
