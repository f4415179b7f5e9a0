package import LibAV
package import Publishing

/// Formats of animations, by their names in job files.
public enum AnimationFormat: String, Codable, CaseIterable, Sendable {
    /// GIF, with one palette of all stills.
    case gif
    /// WebP.
    case webp

    /// The unit in which it counts times.
    var tick: Rational {
        switch self {
        case .gif: Rational(1, 100)
        case .webp: Rational(1, 1000)
        }
    }

    /// How long a still can be shown. Players take a shorter one for a slow one.
    public var lengths: ClosedRange<MediaTime> {
        switch self {
        case .gif: MediaTime(value: 2, timescale: 100)...MediaTime(value: 65_535, timescale: 100)
        case .webp: MediaTime(value: 10, timescale: 1000)...MediaTime(value: 0xff_ffff, timescale: 1000)
        }
    }

    /// All stills are looked at before the first is added.
    public var looksFirst: Bool { self == .gif }

    /// A writer into an empty file. `configuration` is the encoder's, and says the form of the stills.
    /// - Throws: `MediaError` where the encoder doesn't take it.
    package func writer(
        _ configuration: EncoderConfiguration, _ timing: AnimationTiming, into file: TemporaryFile
    ) throws -> any AnimationWriter {
        do throws(AVError) {
            switch self {
            case .gif: return try GIFWriter(configuration, timing, into: file)
            case .webp: return try WebPWriter(configuration, timing, into: file)
            }
        } catch {
            throw MediaError.encoding(track: "animation", error)
        }
    }
}
