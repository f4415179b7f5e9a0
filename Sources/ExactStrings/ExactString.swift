internal import Glibc

/// A string that is compared by its bytes.
///
/// Swift compares strings by canonical equivalence: `é` as one scalar equals `é` as two. To a file system these are
/// different names. Therefore paths, and names that contain paths, are compared and hashed as `ExactString`.
package struct ExactString: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// Returns whether the bytes are equal.
    package static func == (one: ExactString, other: ExactString) -> Bool {
        guard one.text.utf8.count == other.text.utf8.count else { return false }
        let areEqual = one.text.utf8.withContiguousStorageIfAvailable { one in
            other.text.utf8.withContiguousStorageIfAvailable { other in
                guard let first = one.baseAddress, let second = other.baseAddress else { return true }
                return memcmp(first, second, one.count) == 0
            }
        }
        return areEqual.flatMap { $0 } ?? one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// Orders by bytes, which for UTF-8 is the order of the scalars.
    package static func < (one: ExactString, other: ExactString) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
        hasher.combine(UInt8(0xff))
    }
}

extension String {
    /// Key for comparison by bytes.
    package var exact: ExactString { ExactString(self) }
}
