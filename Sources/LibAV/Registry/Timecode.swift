internal import CFFmpeg

/// A timecode with its frame rate (`AVTimecode`): `01:00:00:00`, with `;` for drop frame.
package struct Timecode: Hashable, Sendable {
    private let rate: Rational
    private let text: String

    /// Parses a timecode. Returns nil if the text is invalid, or if timecodes aren't defined for the frame rate.
    package init?(_ text: String, rate: Rational) {
        var code = AVTimecode()
        guard rate.isPositive, av_timecode_init_from_string(&code, rate.av, text, nil) >= 0 else {
            return nil
        }
        self.rate = rate
        self.text = text
        // libavutil normalizes invalid timecodes such as 25:61:00:00.
        guard advanced(by: 0).filter(\.isNumber) == text.filter(\.isNumber) else { return nil }
    }

    /// Returns the timecode that is `frames` frames later. It wraps around at midnight.
    package func advanced(by frames: Int64) -> String {
        var code = AVTimecode()
        guard let count = Int32(exactly: frames),
            av_timecode_init_from_string(&code, rate.av, text, nil) >= 0
        else { return text }
        code.flags |= AV_TIMECODE_FLAG_24HOURSMAX.rawValue
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_TIMECODE_STR_SIZE)) { buffer in
            guard let base = buffer.baseAddress, av_timecode_make_string(&code, base, count) != nil else {
                return text
            }
            return String(cString: base)
        }
    }
}
