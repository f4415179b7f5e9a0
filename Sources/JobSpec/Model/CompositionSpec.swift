package import Diagnostics
package import LibAV
package import Media

/// A composition in a job file: several assets on one time line.
package struct CompositionSpec: Sendable {
    /// The track of an asset that is used.
    package enum TrackChoice: Sendable {
        /// The first track of the kind, if the asset has one.
        case automatic
        /// No track.
        case none
        /// The selected track; an error if no track matches.
        case track(TrackSelection)

        /// The alternatives of the selection, as in `TrackSelection`; empty if there are none.
        package var alternatives: String {
            if case .track(let selection) = self { selection.alternatives } else { "" }
        }
    }

    /// A factor over time, in billionths.
    package struct Level: Sendable {
        /// A single constant value, or points with times from the item's start.
        package var points: [(at: MediaTime, billionths: Int64)]
        /// The value's location in the job file.
        package var range: SourceRange
    }

    /// The processing of frames before they are fitted into the canvas.
    package struct Shaping: Sendable {
        /// The part of the frame that is kept; nil for all of it.
        package var crop: Located<CropSpec>?
        /// A chain of libavfilter's filters.
        package var filters: Located<FilterChain>?
        package init() {}
    }

    /// A clip of the sequence: a range of an asset.
    package struct Clip: Sendable {
        package var id: Located<String>?
        package var asset: AssetSpec
        package var range: RangeSpec?
        /// Presentation duration of an image.
        package var duration: Located<MediaTime>?
        package var video: TrackChoice
        package var audio: TrackChoice
        /// Subtitle tracks that are kept: all tracks for `automatic`, all matching tracks for `track`.
        package var subtitle = TrackChoice.automatic
        package var fit: Located<FrameFit>?
        package var shaping = Shaping()
        /// Playback speed in thousandths.
        package var speed: Located<Int>?
        package var volume: Level?
        /// The display before the first frame, if the source's first frame is later than the clip's start: that frame
        /// or black.
        package var leadIn: Located<LeadIn>?
        package var location: SourceRange
    }

    /// The transition between two clips.
    package struct Join: Sendable {
        package var kind: JoinKind
        package var overlap: Located<MediaTime>
        package var location: SourceRange
    }

    /// An element of the sequence.
    package enum Item: Sendable {
        case clip(Clip)
        case join(Join)
        case gap(Located<MediaTime>)
    }

    /// A position on the composition's time line, relative to `base`.
    package struct Anchor: Sendable {
        package enum Base: Sendable {
            case start
            case end
            /// The start or the end of a clip or an audio item.
            case item(String, isEnd: Bool)
        }
        package var base: Base
        package var offset: MediaTime
    }

    /// A distance in pixels, or in thousandths of a percent of the canvas.
    package enum Distance: Sendable {
        case pixels(Int)
        case share(Int64)
    }

    /// The placement of a layer on the canvas.
    package struct LayerPlacement: Sendable {
        package var left: Located<Distance>?
        package var right: Located<Distance>?
        package var top: Located<Distance>?
        package var bottom: Located<Distance>?
        package var width: Located<Distance>?
        package var height: Located<Distance>?
        /// Clockwise rotation in thousandths of a degree.
        package var rotate: Located<Int>?
        package init() {}
    }

    /// A layer above the clips.
    package struct Layer: Sendable {
        package enum Content: Sendable {
            case asset(AssetSpec, range: RangeSpec?, video: TrackChoice, Shaping)
            case subtitle(AssetSpec, track: TrackChoice, SubtitleStyleSpec)
            case text(Located<String>, font: Located<String>?, size: Located<Int>?, color: String)
        }
        package var content: Content
        package var at: Located<Anchor>?
        package var until: Located<Anchor>?
        package var duration: Located<MediaTime>?
        package var placement: LayerPlacement
        package var opacity: Level?
        package var location: SourceRange
    }

    /// Audio in addition to that of the clips.
    package struct AudioItem: Sendable {
        package var id: Located<String>?
        package var asset: AssetSpec
        package var range: RangeSpec?
        package var audio: TrackChoice
        package var at: Located<Anchor>?
        package var until: Located<Anchor>?
        package var loops: Bool
        package var volume: Level?
        package var fadeIn: Located<MediaTime>?
        package var fadeOut: Located<MediaTime>?
        /// Ducking: the `id` of the audio item or clip whose audio has priority, and the gain factor in billionths.
        package var duck: (under: Located<String>, billionths: Int64)?
        package var location: SourceRange
    }

    package var sequence: [Item]
    package var layers: [Layer]
    package var audio: [AudioItem]
    package var size: Located<PixelSize>?
    package var frameRate: Located<Rational>?
    package var sampleRate: Located<Int32>?
    package var channels: Located<ChannelLayout>?
    package var range: SourceRange

    package var clips: [Clip] {
        sequence.compactMap { if case .clip(let clip) = $0 { clip } else { nil } }
    }

    /// All assets of the composition.
    package var assets: [AssetSpec] {
        clips.map(\.asset)
            + layers.compactMap {
                switch $0.content {
                case .asset(let asset, _, _, _), .subtitle(let asset, _, _): asset
                case .text: nil
                }
            }
            + audio.map(\.asset)
    }

    /// The files of the first asset that stands for several, with one job instance for each; nil if there is none.
    package var patterns: FilePatterns? {
        for asset in assets { if case .glob(let patterns) = asset.source { return patterns } }
        return nil
    }

    /// Returns the composition with a file in place of patterns.
    func with(_ path: Located<String>, for patterns: FilePatterns) -> CompositionSpec {
        mapped { asset in
            guard case .glob(let own) = asset.source, own.range == patterns.range else { return asset }
            var asset = asset
            asset.source = .file(path)
            return asset
        }
    }

    /// Returns the composition with each asset replaced by the result of `replaced`.
    func mapped(_ replaced: (AssetSpec) -> AssetSpec) -> CompositionSpec {
        var spec = self
        for index in spec.sequence.indices {
            guard case .clip(var clip) = spec.sequence[index] else { continue }
            clip.asset = replaced(clip.asset)
            spec.sequence[index] = .clip(clip)
        }
        for index in spec.layers.indices {
            switch spec.layers[index].content {
            case .asset(let asset, let range, let video, let shaping):
                spec.layers[index].content = .asset(
                    replaced(asset), range: range, video: video, shaping)
            case .subtitle(let asset, let track, let style):
                spec.layers[index].content = .subtitle(replaced(asset), track: track, style)
            case .text: break
            }
        }
        for index in spec.audio.indices { spec.audio[index].asset = replaced(spec.audio[index].asset) }
        return spec
    }
}
