/// What is particular to one of libavcodec's encoders: where it keeps what it notes, what it needs of its users, what it tells of
/// what it makes. Each that has something of the kind has a file beside this one, and a line of `EncoderTraits.table`; everything
/// else is as these defaults say.
package struct EncoderTraits: Sendable {
    /// Where an encoder keeps what a first pass finds out.
    package enum PassNotes: Sendable {
        /// In memory, as text (`stats_out`, `stats_in`).
        case text
        /// In a file of which an option of its own says the path.
        case file(option: String)
        /// In a file; pass and path are parameters inside an option.
        case fileInParameters(option: String)
    }

    /// The headers in which it says profile and level.
    package enum Headers: Sendable {
        /// H.264's.
        case avc
        /// HEVC's.
        case hevc
    }

    /// A profile by its name in job files, its number in headers, and what people call it.
    package struct Profile: Sendable {
        /// The name in job files.
        package let asked: String
        /// `profile_idc`.
        package let number: UInt8
        /// For people.
        package let name: String
    }

    /// The beginning of the file name of the library that it stands on; nil where it is libavcodec's own.
    package var library: String?
    /// What a first pass finds out.
    package var passNotes = PassNotes.text
    /// What says that the lower field comes first, which it hears from frames too late: an option and the parameter in it.
    var bottomFieldFirst: (option: String, parameter: String)?
    /// All of a process must be opened and closed one by one, and each needs a frame before its end.
    var isShared = false
    /// It has threads of its own choice where nil.
    var threads: @Sendable (_ cores: Int, _ bitsPerPixel: Double, _ preset: String?) -> Int? = { _, _, _ in
        nil
    }

    /// It writes closed captions that come with frames.
    package var takesCaptions = false
    /// The headers in which it says profile and level; nil where none are read.
    package var headers: Headers?
    /// Profiles that its headers say; empty where they aren't read.
    package var profiles: [Profile] = []
    /// The profile that a pixel format has whatever is asked; nil where it can be chosen.
    package var profileOfFormat: (@Sendable (PixelFormat) -> String)?
    /// Steps of a level in headers.
    package var levelUnit = 10.0
    /// The bit rates that it has at a sample rate, of which it takes the nearest; nil where it takes any.
    package var bitRates: (@Sendable (_ sampleRate: Int32) -> [Int64])?

    /// Of an encoder by libavcodec's name.
    package static func of(_ encoder: String) -> EncoderTraits { table[encoder] ?? EncoderTraits() }

    /// What an encoder's notes are written to; nil where they stay in memory.
    package var keepsNotesInFile: Bool { if case .text = passNotes { false } else { true } }

    private static let table: [String: EncoderTraits] = [
        "libx264": .x264,
        "libx265": .x265,
        "libvpx": .vpx,
        "libvpx-vp9": .vp9,
        "libsvtav1": .svtAV1,
        "libaom-av1": .aom,
        "libmp3lame": .lame,
        "libopus": .opus,
        "libvorbis": .vorbis,
    ]
}
