internal import LibAV
internal import Locking

/// Who decodes for whom: outputs that want frames of the same track share a decoder, and with it a demuxer's packets.
///
/// Each part of a track, where several ranges are joined, is decoded by a decoder of its own, opened by the output that
/// comes to it first. An output that has ended takes part no longer, in no part that is still to come.
///
/// Unchecked `Sendable`: the table is frozen when it is made; its entries are behind their mutexes.
final class DecoderSharing: @unchecked Sendable {
    private struct State {
        /// Decoders that not all have come to yet, by part.
        var lanes: [Int: DecodingLane] = [:]
        var ended: Set<ObjectIdentifier> = []
    }

    private final class Entry: Sendable {
        let state = Guarded(State())
        let consumers: [ObjectIdentifier]
        let mediaType: MediaType
        init(_ consumers: [ObjectIdentifier], _ mediaType: MediaType) {
            self.consumers = consumers
            self.mediaType = mediaType
        }
    }

    /// By track.
    private let entries: [Int: Entry]

    /// Nothing is shared unless `isOn`; frames that are to be converted are decoded on a queue of their own all the same.
    init(_ outputs: [AssetReaderOutput], isOn: Bool) {
        var consumers: [Int: [AssetReaderOutput]] = [:]
        for output in outputs where output.settings.isDecoded {
            for track in output.tracks { consumers[track.index, default: []].append(output) }
        }
        entries = consumers.compactMapValues { outputs in
            guard let first = outputs.first else { return nil }
            if isOn, outputs.count > 1 {
                return Entry(outputs.map(ObjectIdentifier.init), first.track.mediaType)
            }
            return outputs.count == 1 && first.convertsVideo ? Entry([ObjectIdentifier(first)], .video) : nil
        }
    }

    /// The streams that a demuxer reads for some outputs, one as often as it is read.
    func streams(of outputs: [AssetReaderOutput]) -> [Int] {
        var seen: Set<Int> = []
        return outputs.flatMap { output in
            output.tracks.map(\.index).filter { index in
                !output.settings.isDecoded || entries[index] == nil || seen.insert(index).inserted
            }
        }
    }

    /// The frames of a track in one of the parts that are joined, from a decoder that `make` opens or that is there.
    func frames(
        of track: AssetTrack, part: Int, for output: AssetReaderOutput,
        make: () throws -> any FrameStream
    ) throws -> any FrameStream {
        let id = ObjectIdentifier(output)
        guard let entry = entries[track.index], let place = entry.consumers.firstIndex(of: id) else {
            return try make()
        }
        return try entry.state.withLock { state in
            let lane =
                try state.lanes[part]
                ?? DecodingLane(try make(), mediaType: entry.mediaType, ports: entry.consumers.count)
            if state.lanes[part] == nil {
                for (index, consumer) in entry.consumers.enumerated() where state.ended.contains(consumer) {
                    lane.close(index)
                }
            }
            let port = lane.claim(place) { @Sendable [weak output] in output?.wake() }
            state.lanes[part] = lane.isClaimed ? nil : lane
            return port
        }
    }

    /// An output wants nothing any more.
    func end(_ output: AssetReaderOutput) {
        let id = ObjectIdentifier(output)
        for track in output.tracks {
            guard let entry = entries[track.index], let place = entry.consumers.firstIndex(of: id) else {
                continue
            }
            entry.state.withLock { state in
                guard state.ended.insert(id).inserted else { return }
                for lane in state.lanes.values { lane.close(place) }
                state.lanes = state.lanes.filter { !$0.value.isClaimed }
            }
        }
    }
}

extension ReaderOutputSettings {
    /// Frames are vended, no packets.
    var isDecoded: Bool {
        switch self {
        case .video, .audio: true
        case .passthrough, .wholePackets, .smartCut, .subtitle: false
        }
    }
}

extension AssetReaderOutput {
    /// Decoded video goes through filters or a scaler.
    var convertsVideo: Bool {
        guard case .video(let settings) = settings else { return false }
        let format = track.format
        return !settings.isPlain
            || settings.size.map { $0 != PixelSize(width: format.width, height: format.height) } ?? false
            || settings.pixelFormat.map { $0 != format.pixelFormat } ?? false
            || settings.levels.map { $0 != (format.color.range ?? "tv") } ?? false
    }
}
