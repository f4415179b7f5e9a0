internal import LibAV

/// Mapping of the times of frames to those of the subtitles that are drawn into them.
struct SubtitleTimes {
    /// Ranges of the subtitles whose concatenation the frames show, at least two; empty if the frames show one section.
    let ranges: [TimeRange]
    /// Starts of the ranges on the time line of the frames.
    private let starts: [MediaTime]
    /// Time of the frames that corresponds to time 0 of the subtitles, without `ranges`.
    private let offset: MediaTime

    /// Creates the mapping for frames that show one section.
    init(offset: MediaTime = .zero) {
        (ranges, starts, self.offset) = ([], [], offset)
    }

    /// Creates the mapping for frames that show a concatenation of ranges; one range keeps its times.
    init(joining ranges: [TimeRange]) {
        self.ranges = ranges.count > 1 ? ranges : []
        offset = .zero
        var (starts, start) = ([MediaTime](), MediaTime.zero)
        for range in self.ranges {
            starts.append(start)
            start = start + range.duration
        }
        self.starts = starts
    }

    /// Returns the time of the subtitles at a time of the frames, and the index of the range that contains it.
    func position(of time: MediaTime) -> (section: Int, time: MediaTime) {
        guard !starts.isEmpty else { return (0, time - offset) }
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= time { low = middle } else { high = middle }
        }
        return (low, ranges[low].start + (time - starts[low]))
    }
}
