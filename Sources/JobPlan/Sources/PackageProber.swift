internal import ExactStrings
internal import LibAV
internal import Locking

/// A prober that also knows packages: requests with the path of a registered manifest are requests about the package.
struct PackageProber: SourceProber {
    private let base: any SourceProber
    private let packages: Packages

    private final class Packages: Sendable {
        let known = Guarded<[ExactString: SegmentedPackage]>([:])
    }

    var environment: SourceEnvironment { base.environment }
    var trials: SettingsValidationCache { base.trials }

    init(_ base: any SourceProber) {
        self.base = base
        packages = Packages()
    }

    /// Registers the package of a manifest.
    func add(_ package: SegmentedPackage, at manifest: String) {
        packages.known.withLock { $0[manifest.exact] = package }
    }

    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        var request = request
        if let path = request.path { request.package = packages.known.withLock { $0[path.exact] } }
        return try base.respond(to: request)
    }
}
