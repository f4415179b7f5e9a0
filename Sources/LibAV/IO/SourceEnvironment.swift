public import FileSystem

/// The files and URLs that sources may access, and their resource limits. An asset keeps its environment and uses it
/// whenever its file is opened again.
public struct SourceEnvironment: Sendable {
    /// Root beneath which all files must be.
    public var root: PathRoot
    /// Whether sources may be URLs. Network access of job files and media is checked only by this property.
    public var allowsNetwork: Bool
    /// Descriptors of files that this process can't open itself; nil if all files are opened by path.
    package var descriptors: PassedDescriptors?
    /// Resource limits for opening and decoding sources.
    public var limits: InputLimits
    /// A flag that interrupts reads of all sources; nil for none.
    package var interrupt: InterruptFlag?
    /// Streaming packages that are opened by the paths of their manifests.
    package var packages = PackageTable()

    /// Creates an environment. By default, any file and no URL is accessible.
    public init(
        root: PathRoot = .anywhere, allowsNetwork: Bool = false, limits: InputLimits = InputLimits()
    ) {
        self.root = root
        self.allowsNetwork = allowsNetwork
        self.limits = limits
    }

    /// Opens a path, the part of a package by its location, or a URL if network access is allowed. Reads fail once `interrupt`
    /// is raised.
    package func open(
        _ location: String, interrupt: InterruptFlag = InterruptFlag()
    ) throws(InputError) -> any ByteSource {
        if let found = packages.part(at: location) {
            return try part(found.part, of: found.package, at: location, interrupt: interrupt)
        }
        guard SourceLocation.isRemote(location) else { return try file(location, interrupt: interrupt) }
        guard allowsNetwork else { throw InputError(path: location, reason: .networkNotAllowed) }
        return try RemoteSource(url: location, interrupt: joined(interrupt))
    }

    /// Opens a part of a package, whose files must be beneath its folder.
    private func part(
        _ index: Int, of package: SegmentedPackage, at location: String, interrupt: InterruptFlag
    ) throws(InputError) -> any ByteSource {
        var files = self
        if let root = package.root(beneath: root) {
            files.root = root
        } else if descriptors == nil {
            // A process that can't open the folder has descriptors of its files.
            throw InputError(path: location, reason: .file(.outsideRoot))
        }
        let source = SegmentedSource(package, part: index) { [files] path throws(InputError) in
            try files.file(path, interrupt: interrupt)
        }
        do throws(AVError) {
            return try SegmentedText(package.parts[index], source) ?? source
        } catch {
            throw InputError(path: location, reason: .library(error))
        }
    }

    /// Returns a flag that interrupts a source: its own, or the environment's.
    private func joined(_ own: InterruptFlag) -> InterruptFlag {
        interrupt.map { InterruptFlag(joining: [own, $0]) } ?? own
    }

    /// Opens a file, or duplicates the descriptor that was passed for its path. Reads fail once `interrupt` is
    /// raised.
    package func file(
        _ path: String, interrupt: InterruptFlag = InterruptFlag()
    ) throws(InputError) -> FileSource {
        try FileSource(path: path, descriptors: descriptors, root: root, interrupt: joined(interrupt))
    }
}
