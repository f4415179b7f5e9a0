package import LibAV

/// Settings that only filters or encoders themselves can judge. To ask one is to run its code over what a job file says,
/// so it is asked where it can do no harm and as long as one is patient: in a worker.
package enum SettingsTrial: Codable, Hashable, Sendable {
    /// A chain of filters by itself.
    case filters(FilterChain, MediaType)
    /// What a chain makes of frames of a form; the matrix is that of their source.
    case filtered(FilterChain, FrameForm, matrix: String)
    /// A change of primaries, transfer or matrix.
    case conversion(VideoOutputSettings, from: PixelFormat, ColorDescription, to: PixelFormat)
    /// An encoder with everything that it is opened with.
    case encoder(EncoderConfiguration)

    /// What came of it.
    package enum Verdict: Codable, Hashable, Sendable {
        /// It can be done.
        case holds
        /// It can be done, and frames become this.
        case becomes(FrameForm)
        /// It can be done, and a setting comes out otherwise than it was asked for.
        case unheeded(Unheeded)
        /// It can't, in the library's words.
        case problem(String)
    }

    /// A setting that an encoder takes and makes something else of.
    package struct Unheeded: Codable, Hashable, Sendable {
        /// The key of the job language.
        package var setting: String
        /// What comes instead, for people.
        package var made: String
        /// The bit rate that comes instead, where it is one.
        package var bitRate: Int64?

        /// Notes it.
        package init(setting: String, made: String, bitRate: Int64? = nil) {
            self.setting = setting
            self.made = made
            self.bitRate = bitRate
        }
    }

    /// Tries it, in this process.
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

    /// The same for all that comes to the same answer.
    package var plain: SettingsTrial {
        guard case .encoder(var configuration) = self else { return self }
        configuration.threads = 1
        configuration.pass = nil
        return .encoder(configuration)
    }
}
