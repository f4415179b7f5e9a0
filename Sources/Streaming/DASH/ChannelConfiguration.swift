internal import LibAV

/// The value of `AudioChannelConfiguration` with its scheme.
struct ChannelConfiguration: Hashable {
    let scheme: String
    let value: String

    init(_ layout: ChannelLayout, codec: CodecString?) {
        let family = codec?.family
        let name = layout.specified.description
        if family == "ac-3" || family == "ec-3", let mask = Self.dolbyMasks[name] {
            (scheme, value) = ("tag:dolby.com,2014:dash:audio_channel_configuration:2011", mask)
        } else if let index = Self.configurations[name] {
            (scheme, value) = ("urn:mpeg:mpegB:cicp:ChannelConfiguration", String(index))
        } else {
            // Layouts without a code point: players read the number of channels.
            scheme = "urn:mpeg:dash:23003:3:audio_channel_configuration:2011"
            value = String(layout.channels)
        }
    }

    /// Code points of channel configurations (ISO/IEC 23091-3) by libavutil's names of layouts.
    private static let configurations = [
        "mono": 1, "stereo": 2, "3.0": 3, "4.0": 4, "5.0": 5, "5.0(side)": 5, "5.1": 6, "5.1(side)": 6,
        "7.1(wide)": 7, "7.1(wide-side)": 7, "3.0(back)": 9, "quad": 10, "quad(side)": 10, "6.1": 11,
        "7.1": 12,
    ]

    /// Speaker masks (ETSI TS 102 366, E.1.3.1.8) by libavutil's names of layouts.
    private static let dolbyMasks = [
        "mono": "4000", "stereo": "A000", "3.0": "E000", "3.0(back)": "A100", "4.0": "E100",
        "quad": "B800", "quad(side)": "B800", "5.0": "F800", "5.0(side)": "F800", "5.1": "F801",
        "5.1(side)": "F801", "7.1": "FA01",
    ]
}
