package import Diagnostics
package import LibAV
package import Media

/// Several assets on one time line, as a job file says it.
package struct CompositionSpec: Sendable {
    /// Which track of an asset is taken.
    package enum Choice: Sendable {
        /// The first one, where there is one.
        case usual
        /// None.
        case none
        /// This one; that it isn't there is an error.
        case track(Located<TrackSelection>)
    }

    /// A factor in billionths over time.
    package struct Level: Sendable {
        /// One value at no time, or points from where it begins.
        package var points: [(at: MediaTime, billionths: Int64)]
        /// Where it was written.
        package var range: SourceRange
    }

    /// What is done to frames before they get into the canvas.
    package struct Shaping: Sendable {
        /// What part of them is taken.
        package var crop: Located<CropSpec>?
        /// What they go through.
        package var filters: Located<FilterChain>?
        package init() {}
    }

    /// A part of an asset.
    package struct Clip: Sendable {
        package var id: Located<String>?
        package var asset: AssetSpec
        package var range: RangeSpec?
        /// How long an image is shown.
        package var duration: Located<MediaTime>?
        package var video: Choice
        package var audio: Choice
        /// Which tracks of cues move along: `usual` is all, and so is `track`, of those that it names.
        package var subtitle = Choice.usual
        package var fit: Located<FrameFit>?
        package var shaping = Shaping()
        /// In thousandths.
        package var speed: Located<Int>?
        package var volume: Level?
        /// What is seen before its first frame.
        package var leadIn: Located<LeadIn>?
        package var place: SourceRange
    }

    /// How one clip goes over into the next.
    package struct Join: Sendable {
        package var kind: JoinKind
        package var overlap: Located<MediaTime>
        package var place: SourceRange
    }

    /// A part of the sequence.
    package enum Item: Sendable {
        case clip(Clip)
        case join(Join)
        case gap(Located<MediaTime>)
    }

    /// A time on the time line.
    package struct Anchor: Sendable {
        package enum Base: Sendable {
            case start
            case end
            /// The start or the end of a clip or a run of audio.
            case item(String, isEnd: Bool)
        }
        package var base: Base
        package var offset: MediaTime
        package var range: SourceRange
    }

    /// Pixels, or thousandths of a percent of the canvas.
    package enum Distance: Sendable {
        case pixels(Int)
        case share(Int64)
    }

    /// Where a layer stands.
    package struct Place: Sendable {
        package var left: Located<Distance>?
        package var right: Located<Distance>?
        package var top: Located<Distance>?
        package var bottom: Located<Distance>?
        package var width: Located<Distance>?
        package var height: Located<Distance>?
        /// In thousandths of a degree, clockwise.
        package var rotate: Located<Int>?
        package init() {}
    }

    /// What is above the clips.
    package struct Layer: Sendable {
        package enum Content: Sendable {
            case asset(AssetSpec, range: RangeSpec?, video: Choice, Shaping)
            case subtitle(AssetSpec, track: Choice, Style)
            case text(Located<String>, font: Located<String>?, size: Located<Int>?, color: String)
        }
        /// How cues look, where that is not as they say themselves.
        package struct Style: Sendable {
            package var font: Located<String>?
            package var size: Int?
            package var color: String?
        }
        package var content: Content
        package var at: Anchor?
        package var until: Anchor?
        package var duration: Located<MediaTime>?
        package var position: Place
        package var opacity: Level?
        package var place: SourceRange
    }

    /// Audio beside the clips'.
    package struct AudioItem: Sendable {
        package var id: Located<String>?
        package var asset: AssetSpec
        package var range: RangeSpec?
        package var audio: Choice
        package var at: Anchor?
        package var until: Anchor?
        package var loops: Bool
        package var volume: Level?
        package var fadeIn: Located<MediaTime>?
        package var fadeOut: Located<MediaTime>?
        /// Under which other one, and the factor in billionths.
        package var duck: (under: Located<String>, billionths: Int64)?
        package var place: SourceRange
    }

    package var sequence: [Item]
    package var layers: [Layer]
    package var audio: [AudioItem]
    package var size: Located<Dimensions>?
    package var frameRate: Located<Rational>?
    package var sampleRate: Located<Int32>?
    package var channels: Located<ChannelLayout>?
    package var range: SourceRange

    /// The clips of its sequence.
    package var clips: [Clip] {
        sequence.compactMap { if case .clip(let clip) = $0 { clip } else { nil } }
    }

    /// The assets that it is made of.
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

    /// The pattern that gives a clip for each run; nil where every clip is a file.
    package var pattern: Located<String>? {
        for asset in assets { if case .glob(let pattern) = asset.source { return pattern } }
        return nil
    }

    /// The same with a file in a pattern's place.
    func with(_ path: Located<String>, for pattern: Located<String>) -> CompositionSpec {
        mapped { asset in
            guard case .glob(let own) = asset.source, own.range == pattern.range else { return asset }
            var asset = asset
            asset.source = .file(path)
            return asset
        }
    }

    /// The same with other assets.
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
