package import LibAV
package import Publishing

/// Format of an animation; the raw value is its name in job files.
package enum AnimationFormat: String, Codable, CaseIterable, Sendable {
    /// GIF, with one palette for all still images.
    case gif
    /// Animated WebP.
    case webp

    /// Time base in which the format stores durations.
    var tick: Rational {
        switch self {
        case .gif: Rational(1, 100)
        case .webp: Rational(1, 1000)
        }
    }

    /// Supported durations of a still image. Players slow down shorter ones.
    package var lengths: ClosedRange<MediaTime> {
        switch self {
        case .gif: MediaTime(value: 2, timescale: 100)...MediaTime(value: 65_535, timescale: 100)
        case .webp: MediaTime(value: 10, timescale: 1000)...MediaTime(value: 0xff_ffff, timescale: 1000)
        }
    }

    /// Whether all still images must be passed to `AnimationWriter.analyze(_:)` before the first one is added.
    package var needsAnalysis: Bool { self == .gif }

    /// Creates a writer to `file`, which must be empty. The encoder's `configuration` determines size and pixel format
    /// of the still images.
    /// - Throws: `MediaError` if the encoder rejects the configuration.
    package func writer(
        _ configuration: EncoderConfiguration, _ timing: AnimationTiming, into file: TemporaryFile
    ) throws -> any AnimationWriter {
        do throws(AVError) {
            switch self {
            case .gif: return try GIFWriter(configuration, timing, into: file)
            case .webp: return try WebPWriter(configuration, timing, into: file)
            }
        } catch {
            throw MediaError.encoding(track: .part(.animation), error)
        }
    }
}
