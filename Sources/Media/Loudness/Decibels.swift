internal import Glibc

/// Factors of amplitude and decibels.
enum Decibels {
    static func of(factor: Double) -> Double { 20 * log10(factor) }
    static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}
