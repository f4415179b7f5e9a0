internal import LibAV

/// Vends the sum of several tracks' audio (AVFoundation's `AVAssetReaderAudioMixOutput`).
///
/// Unchecked `Sendable`: it adds no state to its class but what never changes.
public final class AssetReaderAudioMixOutput: AssetReaderOutput, @unchecked Sendable {
    /// How the tracks become one.
    public let audioMix: AudioMix

    /// An output of a mix; add it to a reader before reading starts.
    ///
    /// - Parameters:
    ///   - tracks: of one asset; those that the mix doesn't name are not read.
    ///   - audioMix: how they become one.
    ///   - settings: the form of the samples.
    /// - Throws: `MediaError.misuse` of a mix of no track, and of one that is not among the tracks or has no audio.
    public init(tracks: [AssetTrack], audioMix: AudioMix, settings: AudioOutputSettings) throws {
        let read = try audioMix.inputs.map { input in
            try Self.find(input.track, in: tracks, .audio)
        }
        guard let first = read.first else { throw MediaError.misuse("a mix needs a track") }
        self.audioMix = audioMix
        super.init(first, of: read, settings: .audio(settings), mix: audioMix)
    }
}

extension AssetReaderOutput {
    /// One of the tracks by its index in the asset, of the type that is needed.
    static func find(_ index: Int, in tracks: [AssetTrack], _ type: MediaType) throws -> AssetTrack {
        guard let track = tracks.first(where: { $0.index == index && $0.mediaType == type }) else {
            throw MediaError.misuse("track \(index) is not there, or has no \(type.rawValue)")
        }
        return track
    }
}
