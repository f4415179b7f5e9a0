public import FileSystem

/// The access of sources to files and network, and their resource limits. An asset passes its environment on
/// when its file is opened again. The environment isn't global to the process.
public struct SourceEnvironment: Sendable {
    /// Root beneath which all files must lie.
    public var root: PathRoot
    /// Whether sources may be URLs. This is the only check, for job files and media alike.
    public var allowsNetwork: Bool
    /// Files that are already open.
    public var descriptors: PassedDescriptors?
    /// Resource limits of sources.
    public var limits: InputLimits

    /// Creates an environment. By default, any file and no URL is accessible.
    public init(
        root: PathRoot = .anywhere, allowsNetwork: Bool = false, descriptors: PassedDescriptors? = nil,
        limits: InputLimits = InputLimits()
    ) {
        self.root = root
        self.allowsNetwork = allowsNetwork
        self.descriptors = descriptors
        self.limits = limits
    }

    /// Opens a path, or a URL if permitted. Reads fail once the flag is raised.
    public func open(
        _ location: String, interrupt: InterruptFlag = InterruptFlag()
    ) throws(InputError) -> any ByteSource {
        guard SourceLocation.isRemote(location) else { return try file(location, interrupt: interrupt) }
        guard allowsNetwork else { throw InputError(path: location, reason: .networkNotAllowed) }
        return try RemoteSource(url: location, interrupt: interrupt)
    }

    /// Opens a file, or the descriptor that was passed for its path.
    public func file(
        _ path: String, interrupt: InterruptFlag = InterruptFlag()
    ) throws(InputError) -> FileSource {
        try FileSource(path: path, descriptors: descriptors, root: root, interrupt: interrupt)
    }
}
