package import LibAV

/// Settings that are validated by dry-opening filters or encoders. This runs library code on values of a job file, so
/// it happens in a worker, with a time limit.
package enum SettingsTrial: Codable, Hashable, Sendable {
    /// A chain of filters, regardless of the format of its input.
    case filters(FilterChain, MediaType)
    /// Output format of a chain for frames of a format; the matrix is that of their source.
    case filtered(FilterChain, FrameForm, matrix: String)
    /// A change of primaries, transfer or matrix.
    case conversion(VideoOutputSettings, from: PixelFormat, ColorDescription, to: PixelFormat)
    /// An encoder with its complete configuration.
    case encoder(EncoderConfiguration)

    /// Result of a dry open.
    package enum Verdict: Codable, Hashable, Sendable {
        /// The settings are valid.
        case holds
        /// The chain is valid, and its output has this format.
        case becomes(FrameForm)
        /// The encoder accepts the settings, but uses another value for one of them.
        case unheeded(Unheeded)
        /// The settings are invalid; the value is the library's error message.
        case problem(String)
    }

    /// A setting that an encoder accepts but replaces by another value.
    package struct Unheeded: Codable, Hashable, Sendable {
        /// The key in the job language.
        package var setting: String
        /// The value that is used instead, for messages.
        package var made: String
        /// The bit rate that is used instead, if the setting is one.
        package var bitRate: Int64?

        /// Creates a description from given values.
        package init(setting: String, made: String, bitRate: Int64? = nil) {
            self.setting = setting
            self.made = made
            self.bitRate = bitRate
        }
    }

    /// Carries out the dry open in this process.
    package func carryOut() -> Verdict {
        do throws(AVError) {
            switch self {
            case .filters(let chain, let type):
                try FilterGraph.check(chain.steps, mediaType: type)
            case .filtered(let chain, let form, let matrix):
                return .becomes(try FrameFilterChain.trial(chain, of: form, matrix: matrix))
            case .conversion(let settings, let format, let color, let target):
                try FrameFilterChain.tryConversion(settings, from: format, color, to: target)
            case .encoder(let configuration):
                let made = try EncoderTrial.parameters(configuration)
                return EncoderAnswer.unheeded(configuration, made).map { .unheeded($0) } ?? .holds
            }
            return .holds
        } catch {
            return .problem(error.detail ?? error.reason)
        }
    }

    /// The settings without values that don't affect the result, as a cache key.
    package var plain: SettingsTrial {
        guard case .encoder(var configuration) = self else { return self }
        configuration.threads = 1
        configuration.pass = nil
        return .encoder(configuration)
    }
}
