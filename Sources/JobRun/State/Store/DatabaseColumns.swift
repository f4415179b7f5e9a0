internal import GRDB

/// Access to columns of an untrusted database: a value of an unexpected type counts as missing.
///
/// Not inlined: if GRDB's accessor is inlined into a loop, the optimizer of Swift 6.3 crashes.
extension Row {
    @inline(never)
    func text(_ column: Int) -> String {
        String.fromDatabaseValue(self[column] as DatabaseValue) ?? ""
    }
    @inline(never)
    func optionalText(_ column: Int) -> String? {
        String.fromDatabaseValue(self[column] as DatabaseValue)
    }
    /// The text of a column whose missing value is stored as an empty text.
    @inline(never)
    func filledText(_ column: Int) -> String? {
        let text = text(column)
        return text.isEmpty ? nil : text
    }
    @inline(never)
    func number(_ column: Int) -> Double? {
        Double.fromDatabaseValue(self[column] as DatabaseValue).flatMap { $0.isFinite ? $0 : nil }
    }
    @inline(never)
    func integer(_ column: Int) -> Int64 {
        Int64.fromDatabaseValue(self[column] as DatabaseValue) ?? 0
    }
}
