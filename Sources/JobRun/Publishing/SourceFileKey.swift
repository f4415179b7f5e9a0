internal import JobPlan
public import FileSystem

/// A file, changed or not.
public struct SourceFileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Of a file that was looked at.
    public init(_ identity: FileIdentity) {
        device = identity.device
        inode = identity.inode
    }
}
