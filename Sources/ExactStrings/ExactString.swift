/// A string that is compared by its bytes.
///
/// Swift's strings are equal if their characters look the same, however they are composed: `é` as one scalar and as
/// two. To the file system these are two names. A path, or a name that contains a path, is used as a key in this
/// form.
package struct ExactString: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// Returns whether the bytes are equal.
    package static func == (one: ExactString, other: ExactString) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// Orders by bytes, which is the order by scalars.
    package static func < (one: ExactString, other: ExactString) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Hashes the bytes.
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
