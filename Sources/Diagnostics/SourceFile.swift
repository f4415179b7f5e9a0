internal import ExactStrings
internal import Locking

/// The name of a text file as the user wrote it, interned per process: the source ranges of a large job file, up to a
/// million, refer to it by an index.
public struct SourceFile: Hashable, Sendable {
    private let number: UInt32

    private struct Table: Sendable {
        var names: [String] = []
        var numbers: [ExactString: UInt32] = [:]
    }
    private static let table = Guarded(Table())

    /// Creates a reference to a name, which is stored if it is new.
    package init(_ name: String) {
        number = Self.table.withLock { table in
            if let known = table.numbers[name.exact] { return known }
            let next = UInt32(table.names.count)
            table.names.append(name)
            table.numbers[name.exact] = next
            return next
        }
    }

    /// Name of the file as the user wrote it.
    public var name: String { Self.table.withLock { $0.names[Int(number)] } }
}
