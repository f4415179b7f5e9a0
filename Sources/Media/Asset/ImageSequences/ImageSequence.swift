internal import ExactStrings
public import LibAV

/// Images as a video track: numbered files, or a still image with a duration.
public struct ImageSequence: Hashable, Codable, Sendable {
    /// The absolute path; for numbered files, the name contains a placeholder for the number (`%05d`).
    public var path: String
    /// Number of the first file, and the count of files; nil for a still image.
    public var numbers: Numbers?
    /// Frames per second.
    public var frameRate: Rational
    /// Number of frames: one per file, or the duration in frames if a single image is repeated.
    public var frameCount: Int64

    /// A range of consecutive file numbers.
    public struct Numbers: Hashable, Codable, Sendable {
        /// The number of the first file, 0 or greater.
        public var first: Int
        /// The number of files, 1 to `maxFiles`.
        public var count: Int

        /// Creates the range `first..<(first + count)`; `ImageSequence.isValid` checks it.
        public init(first: Int, count: Int) {
            self.first = first
            self.count = count
        }
    }

    /// Creates a sequence of numbered files with one frame each.
    public init(numbered path: String, _ numbers: Numbers, frameRate: Rational) {
        self.path = path
        self.numbers = numbers
        self.frameRate = frameRate
        frameCount = Int64(numbers.count)
    }

    /// Creates a still image with a duration of at least one frame.
    public init(still path: String, duration: MediaTime, frameRate: Rational) {
        self.path = path
        self.frameRate = frameRate
        frameCount = max(1, duration.ticks(in: frameRate.inverted, rounding: .up))
    }

    /// Paths of the files, in order.
    package var files: ImageFiles { ImageFiles(of: self) }

    /// Returns whether the sequences have the same files and timing. Paths are compared by their bytes, as file systems do.
    public static func == (one: ImageSequence, other: ImageSequence) -> Bool {
        one.path.exact == other.path.exact && one.numbers == other.numbers
            && one.frameRate == other.frameRate && one.frameCount == other.frameCount
    }

    /// Hashes the sequence, with the bytes of its path.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(path.exact)
        hasher.combine(numbers)
        hasher.combine(frameRate)
        hasher.combine(frameCount)
    }

    /// Duration of all frames.
    public var duration: MediaTime { MediaTime(ticks: frameCount, timeBase: frameRate.inverted) }

    /// Whether all values are valid and consistent. Checked for sequences from untrusted input.
    package var isValid: Bool {
        guard frameRate.isPositive, (1...1 << 40).contains(frameCount) else { return false }
        guard let numbers else { return true }
        return numbers.first >= 0 && (1...ImageSequence.maxFiles).contains(numbers.count)
            && numbers.first < 1 << 48 && Int64(numbers.count) == frameCount
            && NumberedName(path: path) != nil
    }

    /// Maximum number of files of a sequence.
    package static let maxFiles = 1_000_000
}
