internal import LibAV

/// Decodes a few packets of a track to detect packets that don't match the file's header, because of a wrong codec tag,
/// parameter set or packet framing. Such a file has correct packet counts and times, but can't be played.
///
/// The first and the last GOP of a video track are sampled, and the beginning of an audio track.
package struct DecodingCheck: Sendable {
    /// The part of a track that is sampled.
    package enum Group: Sendable {
        /// The first GOP of video, or the beginning of audio.
        case first
        /// The GOP that begins at the last keyframe at or before `notAfter`, on the asset's time line.
        case last(notAfter: MediaTime)

        /// The group's name in messages.
        package var name: String {
            switch self {
            case .first: "beginning"
            case .last: "last group of pictures"
            }
        }
    }

    private let asset: Asset
    private let track: AssetTrack
    private let isCancelled: @Sendable () -> Bool

    /// Number of packets decoded of a video GOP: the keyframe, and frames predicted from it.
    private static let videoPackets = 8
    /// Number of intact audio frames that prove that packets match their header.
    private static let audioFrames = 3
    /// Maximum number of audio packets decoded before the first frame: MP3 requires the packets of its bit reservoir,
    /// and TrueHD has one sync packet in 128.
    private var audioPackets: Int { track.format.parameters.traits.hasSyncPackets ? 512 : 64 }

    /// Creates a check of one of the asset's tracks; `isCancelled` is called before every packet.
    package init(_ asset: Asset, track: AssetTrack, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.asset = asset
        self.track = track
        self.isCancelled = isCancelled
    }

    /// Whether the track can be checked. PCM is excluded because it always decodes, and a codec without a decoder in
    /// this build can only be copied.
    package var isPossible: Bool {
        guard case .file = asset.source, [.video, .audio].contains(track.mediaType),
            !track.isAttachedPicture, !track.format.parameters.traits.isPCM
        else { return false }
        return track.format.parameters.isDecodable
    }

    /// Returns the decoder's error for a group; nil if the group decodes, or has no packet.
    ///
    /// `isStrict`: every sampled frame must be intact. Otherwise a third of them is enough, since a copy may begin with
    /// frames that refer to earlier ones.
    package func problem(of group: Group, isStrict: Bool) throws -> String? {
        guard isPossible, case .file(let path) = asset.source else { return nil }
        let contents = try asset.loadSynchronously()
        let source = try PacketSource(
            track: track, of: contents.demuxer, path: path,
            environment: asset.environment.sources)
        if case .last(let time) = group {
            let position = time + contents.timeZero
            try source.seek(before: position.ticks(in: track.timeBase, rounding: .down))
        }
        return try problem(of: source, isStrict: isStrict)
    }

    private func problem(of source: PacketSource, isStrict: Bool) throws -> String? {
        var sample = Sample(
            decoder: try PacketDecoder.open(
                track.format.parameters, timeBase: source.timeBase, threads: 1,
                limits: asset.environment.sources.limits), frame: try Frame())
        let isVideo = track.mediaType == .video
        var (firstTime, leading) = (noTimestamp, 0)
        while sample.packets < (isVideo ? Self.videoPackets : audioPackets) {
            if isCancelled() { throw CancellationError() }
            guard let packet = try source.next() else { break }
            let pts = packet.pts
            if sample.packets == 0 { firstTime = pts }
            // Leading frames of an open GOP refer to the GOP before it; a decoder that starts here drops them.
            if isVideo, pts != noTimestamp, pts < firstTime { leading += 1 }
            // The decoder would drop the frames of packets that an edit list hides.
            packet.clearDiscard()
            sample.decode(packet)
            if sample.intactFrames == 0 { continue }
            if isVideo ? sample.packets >= Self.videoPackets : sample.intactFrames >= Self.audioFrames {
                break
            }
        }
        if sample.packets == 0 { return nil }
        sample.drain()
        // Two packets may be the fields of one frame, and a packet may hold a frame that is never shown.
        let fewest = isVideo ? (sample.packets - leading + 2) / 3 : 1
        if sample.intactFrames < fewest {
            return sample.complaint ?? "\(sample.packets) packets decode to \(sample.intactFrames) frames"
        }
        return isStrict ? sample.complaint : nil
    }

    /// A decoder, and the results of the packets that it decoded.
    private struct Sample: ~Copyable {
        let decoder: PacketDecoder
        let frame: Frame
        private(set) var packets = 0
        private(set) var intactFrames = 0
        /// Description of the first error or of the first damaged frame; nil if there was none.
        private(set) var complaint: String?

        init(decoder: consuming PacketDecoder, frame: consuming Frame) {
            self.decoder = decoder
            self.frame = frame
        }

        mutating func decode(_ packet: borrowing Packet) {
            packets += 1
            do throws(AVError) {
                // A full decoder must output frames before it accepts packets.
                while try !decoder.send(packet) { if !receive() { return } }
            } catch {
                note(error)
            }
            while receive() {}
        }

        mutating func drain() {
            do throws(AVError) {
                try decoder.sendEnd()
            } catch {
                note(error)
            }
            while receive() {}
        }

        /// Receives a frame and evaluates it; returns false if the decoder returned none.
        private mutating func receive() -> Bool {
            do throws(AVError) {
                guard case .ready = try decoder.receive(into: frame) else { return false }
                if frame.isDamaged {
                    complaint = complaint ?? "a frame is damaged"
                } else {
                    intactFrames += 1
                }
                return true
            } catch {
                note(error)
                return false
            }
        }

        private mutating func note(_ error: AVError) { complaint = complaint ?? error.description }
    }
}
