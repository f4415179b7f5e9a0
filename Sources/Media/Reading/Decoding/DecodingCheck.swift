internal import DequeModule
internal import LibAV

/// Decodes a few packets of a track to detect packets that don't match the file's header, because of a wrong codec tag,
/// parameter set or packet framing. Such a file has correct packet counts and times, but can't be played.
///
/// The first and the last GOP of a video track are sampled, and the beginning of an audio track. Confined to one queue.
package final class DecodingCheck {
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

    /// The track's packets, from the first checked group on; nil before that.
    private var source: PacketSource?
    /// Presentation times of the first packets of the groups that have no problem.
    private var intactGroups: Set<Int64> = []

    /// Maximum number of packets decoded of a video GOP: the keyframe, and frames predicted from it.
    private static let videoPackets = 8
    /// Number of intact video frames that prove that a copy's packets match their header: a third of `videoPackets`,
    /// since a copy may begin with frames that refer to earlier ones.
    private static let copiedFrames = 3
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

    /// Returns the decoder's error for a group; nil if the group decodes, or has no packet. A group that was checked
    /// before isn't decoded again.
    ///
    /// `isStrict`: every sampled frame must be intact. Otherwise a third of them is enough, since a copy may begin with
    /// frames that refer to earlier ones.
    package func problem(of group: Group, isStrict: Bool) throws -> String? {
        guard isPossible, let source = try positioned(at: group) else { return nil }
        if isCancelled() { throw CancellationError() }
        guard let first = try source.next() else { return nil }
        let start = first.pts
        if start != noTimestamp, intactGroups.contains(start) { return nil }
        let problem = try problem(of: source, from: first, isStrict: isStrict)
        if problem == nil { intactGroups.insert(start) }
        return problem
    }

    /// Returns the track's packets from a group on; nil if the asset isn't a file.
    private func positioned(at group: Group) throws -> PacketSource? {
        guard case .file(let path) = asset.source else { return nil }
        let contents = try asset.loadSynchronously()
        let target: Int64 =
            switch group {
            case .first: 0
            case .last(let time): (time + contents.timeZero).ticks(in: track.timeBase, rounding: .down)
            }
        if let source {
            try source.restart(from: target)
            return source
        }
        // The codec parameters are known, and decoding times aren't used.
        let source = try PacketSource(
            track: track, of: contents.demuxer, path: path, environment: asset.environment.sources,
            discovery: .header)
        if target > 0 { try source.seek(before: target) }
        self.source = source
        return source
    }

    private func problem(
        of source: PacketSource, from first: consuming Packet, isStrict: Bool
    ) throws -> String? {
        let isVideo = track.mediaType == .video
        let start = first.pts
        var packets = UniqueDeque<Packet>()
        packets.append(first)
        if isVideo, !isStrict {
            // Most copies need no more; keyframes and the frames after them may be large.
            var sample = try makeSample(source.timeBase)
            while packets.count < Self.copiedFrames, let packet = try next(of: source) {
                packets.append(packet)
            }
            for index in 0..<packets.count { sample.decode(packets[index]) }
            sample.drain()
            if sample.intactFrames >= Self.copiedFrames { return nil }
        }
        var sample = try makeSample(source.timeBase)
        var leading = 0
        while sample.packets < (isVideo ? Self.videoPackets : audioPackets) {
            guard let packet = try packets.popFirst() ?? next(of: source) else { break }
            // Leading frames of an open GOP refer to the GOP before it; a decoder that starts here drops them.
            if isVideo, packet.pts != noTimestamp, packet.pts < start { leading += 1 }
            sample.decode(packet)
            if !isVideo, sample.intactFrames >= Self.audioFrames { break }
        }
        sample.drain()
        // Two packets may be the fields of one frame, and a packet may hold a frame that is never shown.
        let fewest = isVideo ? (sample.packets - leading + 2) / 3 : 1
        if sample.intactFrames < fewest {
            return sample.complaint ?? "\(sample.packets) packets decode to \(sample.intactFrames) frames"
        }
        return isStrict ? sample.complaint : nil
    }

    private func next(of source: PacketSource) throws -> Packet? {
        if isCancelled() { throw CancellationError() }
        return try source.next()
    }

    private func makeSample(_ timeBase: Rational) throws -> Sample {
        Sample(
            decoder: try PacketDecoder.open(
                track.format.parameters, timeBase: timeBase, threads: 1,
                limits: asset.environment.sources.limits), frame: try Frame())
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
            // The decoder would drop the frames of packets that an edit list hides.
            packet.clearDiscard()
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
