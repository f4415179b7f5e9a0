/// Returns a number followed by its noun, with a plural `s` unless the number is 1: `1 frame`, `2 frames`.
package func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
