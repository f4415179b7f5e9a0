internal import LibAV
internal import Locking

/// Assigns decoders to outputs: outputs that read frames of the same track share a decoder, and so the packets of one
/// demuxer.
///
/// If several ranges are joined, each range has a separate decoder, which is opened by the output that reaches the
/// range first. In the decoders of later ranges, the ports of outputs that have ended are closed.
///
/// Unchecked `Sendable`: the table is immutable after `init`; its entries are protected by mutexes.
final class DecoderSharing: @unchecked Sendable {
    private struct State {
        /// Decoders that not all outputs have claimed yet, by index of the range.
        var decoders: [Int: SharedDecoder] = [:]
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

    /// Entries by track index.
    private let entries: [Int: Entry]

    /// Creates the assignment. Unless `isOn`, no decoder is shared; video that is converted is still decoded on a
    /// separate queue.
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

    /// Returns the streams that a demuxer reads for `outputs`; a stream is listed once for each consumer of its
    /// packets.
    func streams(of outputs: [AssetReaderOutput]) -> [Int] {
        var seen: Set<Int> = []
        return outputs.flatMap { output in
            output.tracks.map(\.index).filter { index in
                !output.settings.isDecoded || entries[index] == nil || seen.insert(index).inserted
            }
        }
    }

    /// Returns the frames of a track in the joined range with index `part`, from an existing decoder or from one that
    /// `make` opens.
    func frames(
        of track: AssetTrack, part: Int, for output: AssetReaderOutput,
        make: () throws -> any FrameStream
    ) throws -> any FrameStream {
        let id = ObjectIdentifier(output)
        guard let entry = entries[track.index], let consumer = entry.consumers.firstIndex(of: id) else {
            return try make()
        }
        return try entry.state.withLock { state in
            let decoder =
                try state.decoders[part]
                ?? SharedDecoder(try make(), mediaType: entry.mediaType, ports: entry.consumers.count)
            if state.decoders[part] == nil {
                for (index, consumer) in entry.consumers.enumerated() where state.ended.contains(consumer) {
                    decoder.close(index)
                }
            }
            let port = decoder.claim(consumer) { @Sendable [weak output] in output?.wake() }
            state.decoders[part] = decoder.isClaimed ? nil : decoder
            return port
        }
    }

    /// Closes the ports of an output that requires no more frames.
    func end(_ output: AssetReaderOutput) {
        let id = ObjectIdentifier(output)
        for track in output.tracks {
            guard let entry = entries[track.index], let consumer = entry.consumers.firstIndex(of: id) else {
                continue
            }
            entry.state.withLock { state in
                guard state.ended.insert(id).inserted else { return }
                for decoder in state.decoders.values { decoder.close(consumer) }
                state.decoders = state.decoders.filter { !$0.value.isClaimed }
            }
        }
    }
}

extension ReaderOutputSettings {
    /// Whether the output vends decoded frames rather than packets.
    var isDecoded: Bool {
        switch self {
        case .video, .audio: true
        case .passthrough, .wholePackets, .smartCut, .subtitle: false
        }
    }
}

extension AssetReaderOutput {
    /// Whether decoded video passes through filters or a scaler.
    var convertsVideo: Bool {
        guard case .video(let settings) = settings else { return false }
        let format = track.format
        return !settings.isPlain
            || settings.size.map { $0 != PixelSize(width: format.width, height: format.height) } ?? false
            || settings.pixelFormat.map { $0 != format.pixelFormat } ?? false
            || settings.levels.map { $0 != (format.color.range ?? .limited) } ?? false
    }
}
