internal import JobPlan
package import FileSystem

/// A file, changed or not.
package struct SourceFileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Of a file that was looked at.
    package init(_ identity: FileIdentity) {
        device = identity.device
        inode = identity.inode
    }
}
