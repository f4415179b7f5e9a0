/// Validation of tags that contain a date.
enum DateTag {
    /// Returns an error message for a numeric date that doesn't exist (`2024-13-45`), with or without a time; nil for
    /// dates that exist and for other texts.
    static func problem(_ text: String) -> String? {
        let day = text.prefix { $0 != "T" && $0 != " " }
        let parts = day.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0].utf8.count == 4,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count else { return nil }
        guard (1...12).contains(numbers[1]) else { return "month \(parts[1]) doesn't exist" }
        guard numbers.count == 3 else { return nil }
        let isLeap = numbers[0] % 4 == 0 && (numbers[0] % 100 != 0 || numbers[0] % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][numbers[1] - 1]
        return (1...days).contains(numbers[2]) ? nil : "day \(parts[2]) doesn't exist in that month"
    }
}
