/// A string that is equal to another one where their bytes are.
///
/// Swift's strings are equal where their characters look the same, however those are composed: `é` of one scalar and `é`
/// of two. To the file system these are two names. What is a path, or a name made of paths, is a key as this.
package struct ExactString: Hashable, Comparable, Sendable {
    /// The string.
    package let text: String

    /// Of a string.
    package init(_ text: String) { self.text = text }

    /// The same bytes.
    package static func == (one: ExactString, other: ExactString) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// By their bytes, which is by their scalars.
    package static func < (one: ExactString, other: ExactString) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Of the bytes.
    package func hash(into hasher: inout Hasher) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
        hasher.combine(UInt8(0xff))
    }
}

extension String {
    /// The string as a key of its bytes.
    package var exact: ExactString { ExactString(self) }
}
