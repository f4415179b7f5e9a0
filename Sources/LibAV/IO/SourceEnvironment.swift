public import FileSystem

/// Through what sources are reached, and what they may ask of the machine: handed to an asset and from there to whatever
/// opens its file again. Nothing of it belongs to the process.
public struct SourceEnvironment: Sendable {
    /// Beneath what files lie.
    public var root: PathRoot
    /// Sources may be URLs. Whatever a job file or a medium asks for, this is the one gate.
    public var allowsNetwork: Bool
    /// Files that are open already.
    public var lent: PassedDescriptors?
    /// What a source may ask of the machine.
    public var limits: InputLimits

    /// Any file, and no URL, where nothing else is said.
    public init(
        root: PathRoot = .anywhere, allowsNetwork: Bool = false, lent: PassedDescriptors? = nil,
        limits: InputLimits = InputLimits()
    ) {
        self.root = root
        self.allowsNetwork = allowsNetwork
        self.lent = lent
        self.limits = limits
    }

    /// Opens a path, or a URL where that is allowed; a raised flag makes reads fail.
    public func open(
        _ location: String, interrupt: InterruptFlag = InterruptFlag()
    ) throws(InputError) -> any ByteSource {
        guard SourceLocation.isRemote(location) else { return try file(location, interrupt: interrupt) }
        guard allowsNetwork else { throw InputError(path: location, reason: .networkNotAllowed) }
        return try RemoteSource(url: location, interrupt: interrupt)
    }

    /// Opens a file, or what was lent for its path.
    public func file(
        _ path: String, interrupt: InterruptFlag = InterruptFlag()
    ) throws(InputError) -> FileSource {
        try FileSource(path: path, lent: lent, root: root, interrupt: interrupt)
    }
}
