public import LibAV

/// Settings that only filters or encoders themselves can judge. To ask one is to run its code over what a job file says,
/// so it is asked where it can do no harm and as long as one is patient: in a worker.
public enum SettingsTrial: Codable, Hashable, Sendable {
    /// A chain of filters by itself.
    case filters(FilterChain, MediaType)
    /// What a chain makes of frames of a form; the matrix is that of their source.
    case filtered(FilterChain, PictureForm, matrix: String)
    /// A change of primaries, transfer or matrix.
    case conversion(VideoOutputSettings, from: PixelFormat, ColorDescription, to: PixelFormat)
    /// An encoder with everything that it is opened with.
    case encoder(EncoderConfiguration)

    /// What came of it.
    public enum Verdict: Codable, Hashable, Sendable {
        /// It can be done.
        case holds
        /// It can be done, and frames become this.
        case becomes(PictureForm)
        /// It can't, in the library's words.
        case problem(String)
    }

    /// Tries it, in this process.
    public func carryOut() -> Verdict {
        do throws(AVError) {
            switch self {
            case .filters(let chain, let type):
                try FilterGraph.check(chain.steps, mediaType: type)
            case .filtered(let chain, let form, let matrix):
                return .becomes(try PictureChain.trial(chain, of: form, matrix: matrix))
            case .conversion(let settings, let format, let color, let target):
                try PictureChain.tryConversion(settings, from: format, color, to: target)
            case .encoder(let configuration):
                return EncoderTrial.problem(configuration).map { .problem($0) } ?? .holds
            }
            return .holds
        } catch {
            return .problem(error.detail ?? error.reason)
        }
    }

    /// The same for all that comes to the same answer.
    public var plain: SettingsTrial {
        guard case .encoder(var configuration) = self else { return self }
        configuration.threads = 1
        configuration.pass = nil
        return .encoder(configuration)
    }
}
