internal import LibAV

/// Sources of the packets and frames of a composition's smart cut.
package struct CompositionPackets: Sendable {
    package let composition: Composition
    package let environment: MediaEnvironment

    package init(_ composition: Composition, environment: MediaEnvironment) {
        (self.composition, self.environment) = (composition, environment)
    }

    /// A clip's file, and the track from which packets are copied.
    package struct Clip: Sendable {
        let source: CompositionSource
        let path: String
        let asset: Asset
        let contents: AssetContents
        /// Track from which packets are copied.
        package let track: AssetTrack
    }

    /// Opens a clip's file.
    /// - Throws: `MediaError` if the clip's source is not a file, or has changed since planning.
    func clip(_ index: Int) throws -> Clip {
        guard composition.clips.indices.contains(index) else {
            throw MediaError.internalError("the cut refers to clip \(index), which doesn't exist")
        }
        return try clip(composition.clips[index].placement)
    }

    private func clip(_ placement: ClipPlacement) throws -> Clip {
        guard composition.sources.indices.contains(placement.source),
            case .file(let path) = composition.sources[placement.source]
        else { throw MediaError.internalError("the source of a copied clip is not a media file") }
        let source = composition.sources[placement.source]
        return try source.namingSource {
            let asset = Asset(.file(path), timing: .fast, environment: environment)
            let contents: AssetContents
            do {
                contents = try asset.loadSynchronously()
            } catch let error as InputError {
                throw MediaError.input(error)
            }
            guard let track = contents.tracks.first(where: { $0.index == placement.track }) else {
                throw MediaError.sourceChanged("track \(placement.track) no longer exists")
            }
            return Clip(source: source, path: path, asset: asset, contents: contents, track: track)
        }
    }

    /// Returns the first clip with copied packets, which determines the format of the output's track.
    package func reference(of cut: SmartCut) throws -> Clip {
        guard let index = cut.parts.first(where: { $0.copiedFrames > 0 })?.clip else {
            throw MediaError.internalError("no clip of the composition is copied")
        }
        return try clip(index)
    }
}

extension CompositionPackets {
    /// Returns the track of the first audio item, which determines the format of the output's track.
    package func audioReference() throws -> AssetTrack {
        guard let first = composition.audioOrder.first.map({ composition.audio[$0] }) else {
            throw MediaError.internalError("the composition has no audio")
        }
        return try clip(first.placement).track
    }
}

extension VideoOutputSettings {
    /// Creates settings that convert a composition's frames to the format of a track, for encoded frames between copied
    /// ones.
    init(generated canvas: Canvas, like track: TrackDescription) {
        self.init(
            pixelFormat: track.pixelFormat, size: PixelSize(width: track.width, height: track.height))
        fit = .stretch
        levels = track.color.range ?? .limited
        sourceRange = canvas.color.range
    }
}
