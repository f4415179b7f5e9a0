internal import JobPlan
package import FileSystem

/// The identity of a file by device and inode, whether its contents have changed or not.
package struct SourceFileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Creates the key of a file from its full identity.
    package init(_ identity: FileIdentity) {
        device = identity.device
        inode = identity.inode
    }
}
