package import JobSpec
internal import LibAV

extension Expectation.Check {
    /// Description for the user: `duration 100.4 s ± 0.04 s`.
    package var text: String {
        if case .decodes = self { "complete decoding" } else { "\(subject) \(bound)" }
    }

    /// The measured property: `duration`.
    package var subject: String {
        switch self {
        case .duration: "duration"
        case .frames: "frames"
        case .size: "size"
        case .property(let type, let name, _): "\(type.rawValue) \(name.rawValue)"
        case .loudness: "loudness"
        case .truePeak: "true peak"
        case .silence: "longest silence"
        case .black: "longest black section"
        case .similarity(.ssim, _): "SSIM"
        case .similarity(.psnr, _): "PSNR"
        case .decodes: "decoding"
        }
    }

    /// The expected value, with its tolerance: `100.4 s ± 0.04 s`.
    package var bound: String {
        switch self {
        case .duration(let expected, let within): "\(expected) s ± \(within) s"
        case .frames(let count): "\(count)"
        case .size(let most): "at most \(PlanText.bytes(most))"
        case .property(_, _, let value): value
        case .loudness(let expected, let within): "\(expected) LUFS ± \(within) LU"
        case .truePeak(let most): "at most \(most) dBTP"
        case .silence(let most), .black(let most): "at most \(most) s"
        case .similarity(.ssim, let least): "at least \(least)"
        case .similarity(.psnr, let least): "at least \(least) dB"
        case .decodes: "complete"
        }
    }
}
