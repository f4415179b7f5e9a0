internal import LibAV

/// `vp09.PP.LL.DD`, followed by chroma and color properties if one of them isn't the default (VP Codec ISO Media File
/// Format Binding).
enum VP9CodecString {
    /// Returns the string; nil without a level or for an invalid profile.
    static func value(profile: Int, level: Int?, format: PixelFormat, color: ColorDescription) -> String? {
        guard let level, (10...62).contains(level), (0...3).contains(profile) else { return nil }
        let depth = format.bitDepth
        let name = format.description
        let chroma = name.contains("444") ? 3 : name.contains("422") ? 2 : 1
        let code = CodePoints(color)
        let base = "vp09.\(twoDigits(profile)).\(twoDigits(level)).\(twoDigits(depth))"
        // Both positions of 4:2:0 chroma are equivalent to players.
        guard chroma > 1 || !code.isStandard || code.isFullRange else { return base }
        let values = [chroma, Int(code.primaries), Int(code.transfer), Int(code.matrix)]
        return base + values.map { "." + twoDigits($0) }.joined() + (code.isFullRange ? ".01" : ".00")
    }

    /// Returns the lowest level whose frame size and sample rate allow a video; nil if none does.
    static func level(width: Int, height: Int, frameRate: Rational?) -> Int? {
        guard width > 0, height > 0 else { return nil }
        let (size, isTooLarge) = width.multipliedReportingOverflow(by: height)
        guard !isTooLarge else { return nil }
        // Without a frame rate, the size determines the level.
        let rate = Double(size) * (frameRate?.double ?? 0)
        return levels.first { size <= $0.size && rate <= $0.rate }?.level
    }

    /// Maximum frame size in luma samples, and maximum luma samples per second.
    private static let levels: [(level: Int, size: Int, rate: Double)] = [
        (10, 36_864, 829_440), (11, 73_728, 2_764_800), (20, 122_880, 4_608_000), (21, 245_760, 9_216_000),
        (30, 552_960, 20_736_000), (31, 983_040, 36_864_000), (40, 2_228_224, 83_558_400),
        (41, 2_228_224, 160_432_128), (50, 8_912_896, 311_951_360), (51, 8_912_896, 588_251_136),
        (52, 8_912_896, 1_176_502_272), (60, 35_651_584, 1_176_502_272), (61, 35_651_584, 2_353_004_544),
        (62, 35_651_584, 4_706_009_088),
    ]
}
