extension MediaTime {
    /// Returns the first multiple of an interval that is greater than the time. Both must be at least 0, the interval
    /// greater than 0.
    package func nextMultiple(of interval: MediaTime) -> MediaTime {
        let number =
            Int128(value) * Int128(interval.timescale) / (Int128(timescale) * Int128(max(1, interval.value)))
        return MediaTime((number + 1) * Int128(interval.value), Int128(interval.timescale))
    }
}
