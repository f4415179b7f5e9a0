internal import FoundationEssentials

/// The file of this program.
enum ProgramFile {
    /// Absolute path; nil if it isn't known.
    static var path: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }
}
