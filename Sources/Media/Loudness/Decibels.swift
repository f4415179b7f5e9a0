internal import Glibc

/// Factors of amplitude and decibels.
package enum Decibels {
    static func of(factor: Double) -> Double { 20 * log10(factor) }
    /// The factor of so many decibels.
    package static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}
