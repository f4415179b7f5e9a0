public import LibAV

/// How tracks of audio become one: the sum of their levels (AVFoundation's `AVAudioMix`).
public struct AudioMix: Codable, Hashable, Sendable {
    /// One track of a mix (AVFoundation's `AVAudioMixInputParameters`).
    public struct Input: Codable, Hashable, Sendable {
        /// The track's index in its asset.
        public var track: Int
        /// How loud it is.
        public var volume: VolumeEnvelope

        /// Makes an input.
        public init(track: Int, volume: VolumeEnvelope) {
            self.track = track
            self.volume = volume
        }
    }

    /// The tracks.
    public var inputs: [Input]
    /// Samples a second of the sum; every track is brought to them.
    public var sampleRate: Int32
    /// The channels of the sum; every track is brought to them.
    public var layout: ChannelLayout

    /// Makes a mix.
    public init(inputs: [Input], sampleRate: Int32, layout: ChannelLayout) {
        self.inputs = inputs
        self.sampleRate = sampleRate
        self.layout = layout
    }
}

/// A volume over time: linear between its points, and as the first and the last one before and after them.
public struct VolumeEnvelope: Codable, Hashable, Sendable {
    /// A volume at a time.
    public struct Point: Codable, Hashable, Sendable {
        /// When, counted from the start of what is read.
        public var time: MediaTime
        /// The factor of the samples, in billionths: decibels as well are exact to a few millionths of a decibel.
        public var billionths: Int64
        /// The same in thousandths, rounded.
        public var thousandths: Int {
            get { Int((billionths + 500_000) / 1_000_000) }
            set { billionths = Int64(clamping: newValue.multiplied(upToLimit: 1_000_000)) }
        }

        /// Makes a point.
        public init(time: MediaTime, thousandths: Int) {
            self.init(time: time, billionths: Int64(clamping: thousandths.multiplied(upToLimit: 1_000_000)))
        }

        /// Makes a point from a factor in billionths.
        public init(time: MediaTime, billionths: Int64) {
            self.time = time
            self.billionths = billionths
        }
    }

    /// In order of time, no two at one.
    public var points: [Point]

    /// Makes an envelope.
    public init(_ points: [Point]) { self.points = points }

    /// As loud as it is.
    public static let full = VolumeEnvelope([])

    /// Changes nothing.
    public var isFull: Bool { points.allSatisfy { $0.billionths == 1_000_000_000 } }
}
