internal import LibAV
internal import Locking

/// Reads tracks of an asset to the end, decoded or as packets, and reports sample counts, ends and damage. The damage
/// policy of the extent applies. An inspection is used once.
package final class SourceInspection: Sendable {
    private struct State: Sendable {
        var reader: AssetReader?
        var position = MediaTime.zero
    }

    private let asset: Asset
    private let decoded: [AssetTrack]
    private let packets: [AssetTrack]
    private let extent: ReadingExtent
    private let decoderThreads: Int?
    private let interrupt = InterruptFlag()
    private let state = Guarded(State())

    /// Creates an inspection of some of an asset's tracks. The ranges of `extent` apply only to the decoded tracks;
    /// packets are read to the end, and require a file as source. `decoderThreads`: threads of each video decoder; nil
    /// for a number that depends on the track.
    package init(
        asset: Asset, decoding decoded: [AssetTrack], packetsOf packets: [AssetTrack],
        extent: ReadingExtent = ReadingExtent(), decoderThreads: Int? = nil
    ) {
        self.asset = asset
        self.decoded = decoded
        self.packets = packets
        self.extent = extent
        self.decoderThreads = decoderThreads
    }

    /// Progress: the time that all tracks of the current pass have reached, from the start of the extent. It never
    /// decreases.
    package var position: MediaTime { state.withLock { $0.position } }

    private func advance(to position: MediaTime?) {
        guard let position else { return }
        state.withLock { $0.position = max($0.position, position) }
    }

    /// Cancels reading from any thread; `read()` throws `CancellationError`.
    package func cancel() {
        interrupt.raise()
        state.withLock { $0.reader }?.cancelReading()
    }

    /// Reads all tracks, and blocks until their ends. Returns reports by track index, with the numbers of frames, of
    /// audio samples per channel, or of packets. Throws at the first damage unless the policy skips it.
    package func read() throws -> [Int: TrackReport] {
        var reports = try readFrames()
        // Sparse tracks are read with a separate demuxer: packets of other tracks would be queued until the next packet
        // of a sparse one.
        let isDense = { (track: AssetTrack) in track.mediaType == .video || track.mediaType == .audio }
        for tracks in [packets.filter(isDense), packets.filter { !isDense($0) }] {
            reports.merge(try readPackets(of: tracks)) { first, _ in first }
        }
        return reports
    }

    private func checkCancelled() throws {
        if interrupt.isRaised { throw CancellationError() }
    }

    // MARK: Frames

    private func readFrames() throws -> [Int: TrackReport] {
        guard !decoded.isEmpty else { return [:] }
        let reader = try AssetReader(asset: asset)
        reader.extent = extent
        reader.decoderThreads = decoderThreads
        let outputs = decoded.map { track in
            AssetReaderTrackOutput(
                track: track,
                settings: track.mediaType == .video
                    ? .video(VideoOutputSettings()) : .audio(AudioOutputSettings()))
        }
        for output in outputs { try reader.add(output) }
        state.withLock { $0.reader = reader }
        try checkCancelled()
        try reader.startReading()
        defer { reader.cancelReading() }
        let origin = extent.ranges.count == 1 ? extent.ranges[0].start : .zero
        var counts = [Int](repeating: 0, count: outputs.count)
        var ends = [MediaTime](repeating: .zero, count: outputs.count)
        var reached = decoded.map { max(.zero, $0.timeRange.start - origin) }
        var open = Array(outputs.indices)
        // The track that has reached the earliest time is read next, so that few packets are queued between demuxer and
        // decoders.
        while let next = open.min(by: { reached[$0] < reached[$1] }) {
            try checkCancelled()
            guard let sample = try outputs[next].copyNextSampleBuffer() else {
                // Cancelling also ends the outputs without an error.
                try checkCancelled()
                open.removeAll { $0 == next }
                continue
            }
            counts[next] += sample.sampleCount
            let end = MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase) - origin
            ends[next] = max(ends[next], end)
            reached[next] = max(reached[next], end)
            advance(to: open.map { reached[$0] }.min())
        }
        var reports: [Int: TrackReport] = [:]
        for (index, output) in outputs.enumerated() {
            var report = TrackReport(samples: counts[index], end: ends[index], damage: output.damagedSamples)
            report.droppedSamples = output.droppedSamples
            reports[output.track.index] = report
        }
        return reports
    }

    // MARK: Packets

    private func readPackets(of packets: [AssetTrack]) throws -> [Int: TrackReport] {
        guard !packets.isEmpty else { return [:] }
        guard case .file(let path) = asset.source else {
            throw MediaError.internalError("only a file has packets to read")
        }
        let contents = try asset.loadSynchronously()
        if contents.missingBytes > 0, extent.damagePolicy == .fail {
            throw MediaError.input(
                InputError(
                    path: path,
                    reason: .truncated(
                        expected: contents.fileSize + contents.missingBytes, actual: contents.fileSize)))
        }
        let tracks = try readers(of: packets, contents, path: path)
        var open = tracks
        while let next = open.min(by: { $0.lastTime < $1.lastTime }) {
            try checkCancelled()
            do {
                if try !next.readPacket() { open.removeAll { $0 === next } }
            } catch {
                // Cancelling interrupts the demuxer, which then fails with another error.
                try checkCancelled()
                throw error
            }
            advance(to: open.map(\.lastTime).min())
        }
        return Dictionary(uniqueKeysWithValues: tracks.map { ($0.track.index, $0.report) })
    }

    /// Returns a reader for each track; all share one demuxer.
    private func readers(
        of packets: [AssetTrack], _ contents: AssetContents, path: String
    ) throws -> [PacketTrackReader] {
        let environment = asset.environment.sources
        let container = contents.demuxer
        let tallies = packets.map { _ in
            let tally = DamageTally()
            tally.setPolicy(extent.damagePolicy)
            return tally
        }
        let demuxer: SharedDemuxer
        do throws(InputError) {
            demuxer = try SharedDemuxer(
                path: path, streams: packets.map(\.index), environment: environment, interrupt: interrupt,
                damage: tallies, container: container.name,
                origins: packets.reduce(into: [:]) { $0.merge($1.origins) { first, _ in first } })
        } catch {
            throw MediaError.input(error)
        }
        return try zip(packets, tallies).map { track, tally in
            let source = try PacketSource(
                track: track, of: container, demuxer: demuxer, path: path, environment: environment,
                interrupt: interrupt, ownsDemuxer: false, movement: MovementCounter(), damage: tally)
            source.timeZero = contents.timeZero
            let lostPages =
                container.hasPages && track.mediaType == .audio
                ? LostPages(path: path, environment: environment) : nil
            return PacketTrackReader(source, timeZero: contents.timeZero, lostPages: lostPages)
        }
    }
}

/// Reads and counts the packets of one track. Unlike a copy, it accepts packets without times, and hidden packets at
/// any position.
private final class PacketTrackReader {
    private let source: PacketSource
    private let timeZero: MediaTime
    private let lostPages: LostPages?
    private var count = 0
    private var hidden = 0
    private var end = MediaTime.zero
    private var lastStep: MediaTime?
    /// Time of the last packet in decoding order, from time zero.
    private(set) var lastTime: MediaTime

    init(_ source: PacketSource, timeZero: MediaTime, lostPages: LostPages?) {
        self.source = source
        self.timeZero = timeZero
        self.lostPages = lostPages
        lastTime = max(.zero, source.track.timeRange.start)
    }

    var track: AssetTrack { source.track }

    var report: TrackReport {
        var report = TrackReport(samples: count, end: end, damage: source.damage.count)
        report.hiddenSamples = hidden
        return report
    }

    /// Reads the next packet; returns false at the end.
    func readPacket() throws -> Bool {
        do {
            guard let packet = try source.next() else { return false }
            try take(packet)
            return true
        } catch let error as AVError {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }

    private func take(_ packet: borrowing Packet) throws {
        count += 1
        let isHidden = track.mediaType == .video && packet.isDiscarded
        if isHidden { hidden += 1 }
        let length = MediaTime(ticks: max(0, packet.duration), timeBase: source.timeBase)
        let shown = packet.pts != noTimestamp ? packet.pts : packet.dts
        guard shown != noTimestamp else {
            // Without timestamps, the end is the sum of the durations.
            end = end + length
            lastTime = max(lastTime, end)
            return
        }
        let start = MediaTime(ticks: shown, timeBase: source.timeBase) - timeZero
        let step =
            packet.dts == noTimestamp
            ? start : MediaTime(ticks: packet.dts, timeBase: source.timeBase) - timeZero
        if track.mediaType == .video || track.mediaType == .audio {
            if let lastStep {
                try TimeBounds.checkStep(from: lastStep, to: step, track: track, isPaged: lostPages != nil)
            }
            lastStep = step
            try checkPages(before: start)
        }
        lastTime = max(lastTime, step)
        if !isHidden { end = max(end, start + length) }
    }

    /// Reports a gap in the audio before `start` as damage if pages of the Ogg file are missing.
    private func checkPages(before start: MediaTime) throws {
        let slack = MediaTime(value: 2, timescale: 1000)
        guard let lostPages, start > end + slack, lostPages.isIncomplete else { return }
        try source.damage.handle(.lostPages(track: track.reference, from: end, to: start), at: end)
    }
}
