package import Diagnostics

/// The size of a finished file that the bit rate of one of its tracks determines.
package struct TargetSize: Codable, Hashable, Sendable {
    /// Maximum size in bytes.
    package var bytes: Int64
    /// Minimum bit rate of the track, in bits per second.
    package var minimumRate: Int64 = 0
    /// Maximum bit rate of the track, in bits per second.
    package var maximumRate: Int64 = 0
    /// Location of `target_size` in the job file.
    package var location: SourceRange

    package init(
        bytes: Int64, minimumRate: Int64 = 0, maximumRate: Int64 = 0, location: SourceRange
    ) {
        self.bytes = bytes
        self.minimumRate = minimumRate
        self.maximumRate = maximumRate
        self.location = location
    }

    /// Minimum size in bytes that is accepted without a warning.
    package var minimumBytes: Int64 { bytes - bytes / 100 * 3 - bytes % 100 * 3 / 100 }

    /// Size in bytes at which bit rates are aimed: the middle between minimum and maximum.
    package var aim: Int64 { minimumBytes + (bytes - minimumBytes) / 2 }

    /// Size in bytes at which the last correction is aimed, since a file that is larger than the target size can't be
    /// used.
    package var safeAim: Int64 { minimumBytes + (bytes - minimumBytes) / 4 }
}

extension OutputPlan {
    /// Size that the finished file must meet, with the index of the track whose bit rate determines it; nil without one.
    package var targetSize: (size: TargetSize, track: Int)? {
        firstEncoded(with: \.targetSize).map { ($0.value, $0.track) }
    }
}

extension JobPlan {
    /// Returns the plan with other bit rates of the tracks with a target size, by output index.
    package func with(bitRates: [Int: Int64]) -> JobPlan {
        changing(bitRates, ofTracksWith: \.targetSize) { $0.take(bitRate: $1) }
    }
}
