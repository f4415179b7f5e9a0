internal import GRDB

/// Columns of a database that anybody may have written into: another type than ours is no value.
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
