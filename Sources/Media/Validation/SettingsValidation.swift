package import LibAV

/// Settings that are validated by dry-opening filters or encoders. Values of a job file are passed to library code, so
/// validation runs in a worker, with a time limit.
package enum SettingsValidation: Codable, Hashable, Sendable {
    /// A chain of filters, regardless of the format of its input.
    case filters(FilterChain, MediaType)
    /// A chain of filters for frames of a given format, whose output format is determined; `matrix` is the matrix of
    /// the source.
    case filtered(FilterChain, FrameFormat, matrix: String)
    /// A change of primaries, transfer or matrix.
    case conversion(VideoOutputSettings, from: PixelFormat, ColorDescription, to: PixelFormat)
    /// The complete configuration of an encoder.
    case encoder(EncoderConfiguration)

    /// Result of a dry open.
    package enum Outcome: Codable, Hashable, Sendable {
        /// The settings are valid.
        case valid
        /// The chain is valid, and its output has this format.
        case outputs(FrameFormat)
        /// The encoder accepts the settings, but uses another value for one of them.
        case ignored(IgnoredSetting)
        /// The settings are invalid; the value is the library's error message.
        case problem(String)
    }

    /// A setting that an encoder accepts but replaces by another value.
    package struct IgnoredSetting: Codable, Hashable, Sendable {
        /// The settings whose effect is compared. The raw value is the key in the job language.
        package enum Setting: String, Codable, Sendable, CaseIterable {
            case bitRate = "bitrate"
            case level
            case profile
        }

        package var setting: Setting
        /// The value in effect, for messages.
        package var actual: String
        /// The bit rate in effect, in bits per second; nil for other settings.
        package var bitRate: Int64?

        package init(setting: Setting, actual: String, bitRate: Int64? = nil) {
            self.setting = setting
            self.actual = actual
            self.bitRate = bitRate
        }
    }

    /// Opens the filters or the encoder in this process, and returns the outcome.
    package func run() -> Outcome {
        do throws(AVError) {
            switch self {
            case .filters(let chain, let type):
                try FilterGraph.check(chain.steps, mediaType: type)
            case .filtered(let chain, let format, let matrix):
                return .outputs(try FrameFilterChain.filteredFormat(chain, of: format, matrix: matrix))
            case .conversion(let settings, let format, let color, let target):
                try FrameFilterChain.validateConversion(settings, from: format, color, to: target)
            case .encoder(let configuration):
                let actual = try EncoderValidation.parameters(configuration)
                return EncoderSettingsCheck.ignoredSetting(configuration, actual).map { .ignored($0) }
                    ?? .valid
            }
            return .valid
        } catch {
            return .problem(error.detail ?? error.reason)
        }
    }

    /// The settings as a cache key, without values that don't affect the outcome.
    package var cacheKey: SettingsValidation {
        guard case .encoder(var configuration) = self else { return self }
        configuration.threads = 1
        configuration.pass = nil
        return .encoder(configuration)
    }
}
