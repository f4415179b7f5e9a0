internal import LibAV

// Unchecked `Sendable`: the class adds only immutable state.
/// Vends the sum of several tracks' audio (AVFoundation's `AVAssetReaderAudioMixOutput`).
public final class AssetReaderAudioMixOutput: AssetReaderOutput, @unchecked Sendable {
    /// Volume of each track, and sample rate and channel layout of the sum.
    public let audioMix: AudioMix

    /// Creates an output of a mix; add it to a reader before reading starts.
    ///
    /// - Parameters:
    ///   - tracks: tracks of one asset; only the mix's tracks are read.
    ///   - audioMix: tracks with their volumes, and the format of the sum.
    ///   - settings: sample format, sample rate, layout and filters of the vended audio.
    /// - Throws: `MediaError.invalidArgument` for a mix without tracks, or if a track of the mix is not among `tracks` or has no
    ///   audio.
    public init(tracks: [AssetTrack], audioMix: AudioMix, settings: AudioOutputSettings) throws {
        let read = try audioMix.inputs.map { input in
            try Self.find(input.track, in: tracks, .audio)
        }
        guard let first = read.first else { throw MediaError.invalidArgument("a mix requires a track") }
        self.audioMix = audioMix
        super.init(first, of: read, settings: .audio(settings), mix: audioMix)
    }
}

extension AssetReaderOutput {
    /// Returns the track with this index in the asset; throws if there is none, or if it has another media type.
    static func find(_ index: Int, in tracks: [AssetTrack], _ type: MediaType) throws -> AssetTrack {
        guard let track = tracks.first(where: { $0.index == index && $0.mediaType == type }) else {
            throw MediaError.invalidArgument("track \(index) doesn't exist, or is not \(type.rawValue)")
        }
        return track
    }
}
