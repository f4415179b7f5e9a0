public import LibAV

/// The mix of several audio tracks (AVFoundation's `AVAudioMix`).
public struct AudioMix: Codable, Hashable, Sendable {
    /// One track of a mix (AVFoundation's `AVAudioMixInputParameters`).
    public struct Input: Codable, Hashable, Sendable {
        /// The track's index in its asset.
        public var track: Int
        /// Volume of the track over the range that is read.
        public var volume: VolumeEnvelope

        /// Creates an input from a track's index and its volume.
        public init(track: Int, volume: VolumeEnvelope) {
            self.track = track
            self.volume = volume
        }
    }

    /// The tracks to mix, with the volume of each.
    public var inputs: [Input]
    /// Sample rate of the mix in Hz; every track is converted to it.
    public var sampleRate: Int32
    /// Channel layout of the mix; every track is converted to it.
    public var layout: ChannelLayout

    /// Creates a mix with a sample rate in Hz and a channel layout, to which all tracks are converted.
    public init(inputs: [Input], sampleRate: Int32, layout: ChannelLayout) {
        self.inputs = inputs
        self.sampleRate = sampleRate
        self.layout = layout
    }
}

/// Volume over time: linear between the points, constant before the first and after the last one.
public struct VolumeEnvelope: Codable, Hashable, Sendable {
    /// An amplitude factor at a time.
    public struct Point: Codable, Hashable, Sendable {
        /// Time from the start of the range that is read.
        public var time: MediaTime
        /// Amplitude factor in billionths; 1,000,000,000 keeps the volume. At -60 dB, it is precise to 0.00001 dB.
        public var billionths: Int64
        /// Amplitude factor in thousandths; rounded when read.
        public var thousandths: Int {
            get { Int((billionths + 500_000) / 1_000_000) }
            set { billionths = Int64(clamping: newValue.multiplied(upToLimit: 1_000_000)) }
        }

        /// Creates a point from a factor in thousandths.
        public init(time: MediaTime, thousandths: Int) {
            self.init(time: time, billionths: Int64(clamping: thousandths.multiplied(upToLimit: 1_000_000)))
        }

        /// Creates a point from a factor in billionths.
        public init(time: MediaTime, billionths: Int64) {
            self.time = time
            self.billionths = billionths
        }
    }

    /// Points in order of time, with distinct times; empty for an unchanged volume.
    public var points: [Point]

    /// Creates an envelope from points in order of time, with distinct times.
    public init(_ points: [Point]) { self.points = points }

    /// An envelope without points, which keeps the volume.
    public static let full = VolumeEnvelope([])

    /// Whether the envelope leaves the volume unchanged.
    package var isFull: Bool { points.allSatisfy { $0.billionths == 1_000_000_000 } }
}
