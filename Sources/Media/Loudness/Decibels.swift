internal import Glibc

/// Conversion between amplitude factors and decibels.
package enum Decibels {
    static func of(factor: Double) -> Double { 20 * log10(factor) }
    /// Returns the amplitude factor for a value in decibels.
    package static func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}
