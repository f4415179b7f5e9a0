public import LibAV

/// Images that are shown one after the other as a track of video: numbered files, or one file for some time.
public struct ImageSequence: Hashable, Codable, Sendable {
    /// The absolute path; of numbered files the name has a place for the number (`%05d`).
    public var path: String
    /// The number of the first file, and how many there are; nil for one file.
    public var numbers: Numbers?
    /// Frames a second.
    public var frameRate: Rational
    /// Frames in all: one for each file, or so many of the one.
    public var frameCount: Int64

    /// Numbers without a gap.
    public struct Numbers: Hashable, Codable, Sendable {
        /// The first one.
        public var first: Int
        /// How many.
        public var count: Int

        /// Makes a run of numbers.
        public init(first: Int, count: Int) {
            self.first = first
            self.count = count
        }
    }

    /// Numbered files, each of which is a frame.
    public init(numbered path: String, _ numbers: Numbers, frameRate: Rational) {
        self.path = path
        self.numbers = numbers
        self.frameRate = frameRate
        frameCount = Int64(numbers.count)
    }

    /// One file that is shown for some time, at least a frame.
    public init(still path: String, duration: MediaTime, frameRate: Rational) {
        self.path = path
        self.frameRate = frameRate
        frameCount = max(1, duration.ticks(in: frameRate.inverted, rounding: .up))
    }

    /// Its files in order.
    public var files: ImageFiles { ImageFiles(of: self) }

    /// How long all of it is.
    public var duration: MediaTime { MediaTime(ticks: frameCount, timeBase: frameRate.inverted) }

    /// It makes sense: asked of one that comes from outside.
    public var isSound: Bool {
        guard frameRate.isPositive, (1...1 << 40).contains(frameCount) else { return false }
        guard let numbers else { return true }
        return numbers.first >= 0 && (1...ImageSequence.mostFiles).contains(numbers.count)
            && numbers.first < 1 << 48 && Int64(numbers.count) == frameCount
            && NumberedName(path: path) != nil
    }

    /// Files that a sequence has at most.
    public static let mostFiles = 1_000_000
}
