internal import Diagnostics
package import JobSpec
internal import LibAV

extension Expectation.Check {
    /// Description for the user: `duration 100.4 s, give or take 0.04 s`.
    package var text: String {
        switch self {
        case .duration(let wanted, let within): "duration \(wanted) s, give or take \(within) s"
        case .frames(let count): counted(count, "frame")
        case .size(let most): "at most \(PlanText.bytes(most))"
        case .property(let type, let name, let value): "\(type.rawValue) \(name) \(value)"
        case .loudness(let wanted, let within): "\(wanted) LUFS, give or take \(within) LU"
        case .truePeak(let most): "true peak of at most \(most) dBTP"
        case .silence(let most): "no silence longer than \(most) s"
        case .black(let most): "no black frames longer than \(most) s"
        case .similarity(.ssim, let least): "SSIM of at least \(least)"
        case .similarity(.psnr, let least): "PSNR of at least \(least) dB"
        case .decodes: "all of it decodes"
        }
    }
}
