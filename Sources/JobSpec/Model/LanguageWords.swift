// Words of the language that decoders translate into values of other types. The table lists their cases.

/// Words for a selection of tracks.
enum SelectionWord: String, CaseIterable {
    case first, all, none

    /// The words for several tracks.
    static let several = words(.first, .all)
    /// The words for one track.
    static let single = words(.first)
    /// The words for one track of a clip, which may have none.
    static let optional = words(.first, .none)

    private static func words(_ words: Self...) -> [String] { words.map(\.rawValue) }
}

/// Words for the tags of a source that are kept.
enum KeepWord: String, CaseIterable {
    case all, none
}

/// Words for the time of an output's file.
enum FileTimesWord: String, CaseIterable {
    case keep, now
}

/// Words for the chapters of an output.
enum ChaptersWord: String, CaseIterable {
    case keep, drop, clips
}

/// Words for the number of bits of a waveform's values.
enum WaveformBitsWord: String, CaseIterable {
    case eight = "8"
    case sixteen = "16"
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// All words, in order.
    static var words: [String] { allCases.map(\.rawValue) }
}
