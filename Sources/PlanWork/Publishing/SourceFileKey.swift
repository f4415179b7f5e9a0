internal import JobPlan
package import FileSystem

/// The identity of a file by device and inode, regardless of its contents.
package struct SourceFileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    package init(_ identity: FileIdentity) {
        device = identity.device
        inode = identity.inode
    }
}
