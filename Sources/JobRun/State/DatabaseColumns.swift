internal import GRDB

/// Columns of an untrusted database: a value of an unexpected type counts as missing.
///
/// Kept out of line: inlined into a loop, GRDB's accessor makes the optimizer of Swift 6.3 crash.
extension Row {
    @inline(never)
    func text(_ column: Int) -> String {
        String.fromDatabaseValue(self[column] as DatabaseValue) ?? ""
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
