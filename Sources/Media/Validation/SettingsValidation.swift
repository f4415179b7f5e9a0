package import LibAV

/// Settings that are validated by dry-opening filters or encoders. This runs library code on values of a job file, so
/// it happens in a worker, with a time limit.
package enum SettingsValidation: Codable, Hashable, Sendable {
    /// A chain of filters, regardless of the format of its input.
    case filters(FilterChain, MediaType)
    /// Output format of a chain for frames of a format; the matrix is that of their source.
    case filtered(FilterChain, FrameFormat, matrix: String)
    /// A change of primaries, transfer or matrix.
    case conversion(VideoOutputSettings, from: PixelFormat, ColorDescription, to: PixelFormat)
    /// An encoder with its complete configuration.
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
        /// The key in the job language.
        package var setting: String
        /// The value that is used instead, for messages.
        package var actual: String
        /// The bit rate that is used instead, if the setting is one.
        package var bitRate: Int64?

        /// Creates a description from given values.
        package init(setting: String, actual: String, bitRate: Int64? = nil) {
            self.setting = setting
            self.actual = actual
            self.bitRate = bitRate
        }
    }

    /// Carries out the dry open in this process.
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

    /// The settings without values that don't affect the result, as a cache key.
    package var cacheKey: SettingsValidation {
        guard case .encoder(var configuration) = self else { return self }
        configuration.threads = 1
        configuration.pass = nil
        return .encoder(configuration)
    }
}
