internal import DequeModule
internal import LibAV
internal import Publishing

/// The file or the segments of a writer: the muxer from its header to its trailer, the packets that wait for
/// it, and the corrections of a finished index. Errors are thrown to the writer, which fails.
///
/// Confined to the writer's queue.
final class MuxedOutput {
    /// Access to the state of the writer's inputs. The functions are created once per output.
    struct Flow {
        /// Returns whether an input has no further packets.
        let hasEnded: (_ input: Int) -> Bool
        /// Receives the size of each packet in bytes before the packet is written.
        let countBytes: (Int) -> Void
        /// Receives the input of each packet that the size limiter passed on, after the packet was written.
        let countPacket: (_ input: Int) -> Void
    }

    private let header: OutputHeader
    /// The temporary file; nil for segments.
    private let file: TemporaryFile?
    /// Whether the file is published already, so that each fragment is written to disk.
    private let isPublished: Bool
    private let flow: Flow
    private let movieTimescale: Int32
    /// Parameters of each track that the header determined.
    private var tracks: [OutputHeader.Track]
    /// Nil after the trailer.
    private var muxer: Muxer?
    private let limiter: FileSizeLimiter?
    private let scheduler: FragmentScheduler?
    /// Final codec headers, which are written after all packets.
    private var codecHeaders = UniqueDeque<Packet>()
    /// Size in bytes of a published file, up to the end of its last complete fragment.
    private var completeSize: Int64 = 0
    /// Whether the sample entries are complete.
    private var hasEntryBoxes = false

    private var container: ContainerType { header.container }
    private var inputs: [AssetWriterInput] { header.inputs }
    private var segments: SegmentOutput? { header.segments }

    /// Opens the encoders and writes the header. `sizeLimit` is in bytes; `fragmentInterval` is the duration
    /// of fragments, or of other data that is flushed together, and nil without fragments.
    init(
        _ header: OutputHeader, file: TemporaryFile?, isPublished: Bool, sizeLimit: Int64?,
        fragmentInterval: MediaTime?, segmentStarts: FragmentScheduler.SegmentStarts?, flow: Flow
    ) throws {
        let opened = try header.write(to: file?.descriptor)
        let tracks = opened.tracks
        let types = zip(header.inputs, tracks).map { (mediaType: $0.mediaType, timeBase: $1.timeBase) }
        self.header = header
        self.file = file
        self.isPublished = isPublished
        self.flow = flow
        self.tracks = tracks
        movieTimescale = opened.movieTimescale
        if let sizeLimit {
            limiter = Self.makeLimiter(
                sizeLimit, header: header, tracks: tracks, written: opened.muxer.position)
        } else {
            limiter = nil
        }
        muxer = consume opened.muxer
        scheduler = fragmentInterval.map {
            FragmentScheduler(
                tracks: types, interval: $0,
                setsDurations: header.container.hasFragments || header.segments != nil,
                segmentStarts: segmentStarts)
        }
        header.segments?.entryBoxes = tracks.map(\.entryBoxes)
        header.segments?.setTracks(types)
    }

    /// Returns a size limiter for an output whose header has `written` bytes.
    private static func makeLimiter(
        _ limit: Int64, header: OutputHeader, tracks: [OutputHeader.Track], written: Int64
    ) -> FileSizeLimiter {
        let model = OutputSizeModel(
            container: header.container,
            tracks: zip(header.inputs, tracks).map {
                OutputSizeModel.Track(mediaType: $0.mediaType, codec: $1.codec, headerSize: $1.headerSize)
            })
        let tags = header.metadata + header.inputs.flatMap(\.metadata)
        return FileSizeLimiter(
            limit: limit,
            bytes: written
                + model.fixed(
                    tags: tags, chapters: header.chapters, covers: header.covers, written: written),
            model: model, canShorten: header.container.hasEditLists,
            tracks: zip(header.inputs, tracks).map { ($0.mediaType, $1.packetTimeBase) })
    }

    /// Time bases of the inputs' packets.
    var packetTimeBases: [Rational] { tracks.map(\.packetTimeBase) }

    // MARK: Packets

    /// Passes a packet through the size limiter, if there is one, and writes it. Final codec headers are kept
    /// until all packets are written. Returns the end of the output if it reached the size limit; nil
    /// otherwise.
    func take(_ packet: consuming Packet, input index: Int) throws(OutputFailure) -> MediaTime? {
        if packet.isHeader {
            packet.streamIndex = index
            codecHeaders.append(packet)
            return nil
        }
        guard let limiter else {
            try write(packet, input: index)
            return nil
        }
        return try limiter.take(packet, track: index) { packet, index throws(OutputFailure) in
            try writeCounted(packet, input: index)
        }
    }

    /// Whether the size of the output is limited.
    var isLimited: Bool { limiter != nil }

    /// Writes the packets that the size limiter kept. Returns the end of the output if it reached the limit;
    /// nil otherwise.
    func finishLimiter() throws(OutputFailure) -> MediaTime? {
        try limiter?.finish { packet, index throws(OutputFailure) in try writeCounted(packet, input: index) }
    }

    /// Writes the final codec headers, unless the output has fragments: the header before them is written
    /// already.
    func writeCodecHeaders() throws(OutputFailure) {
        guard !header.isFragmented, segments == nil else { return }
        while let packet = codecHeaders.popFirst() {
            let index = packet.streamIndex
            try write(packet, input: index)
        }
    }

    /// Writes the packets that were held back for their durations, and ends the last segment.
    func writeHeldPackets() throws(OutputFailure) {
        if let scheduler {
            while let packet = scheduler.next() { try write(packet, scheduledBy: scheduler) }
        }
        if let segments, segments.hasSamples, segments.canEndSegment { try endFragment() }
    }

    private func writeCounted(_ packet: consuming Packet, input index: Int) throws(OutputFailure) {
        try write(packet, input: index)
        flow.countPacket(index)
    }

    private func write(_ packet: consuming Packet, input index: Int) throws(OutputFailure) {
        do {
            try tracks[index].trimming?.mark(packet)
        } catch {
            throw OutputFailure(error)
        }
        let track = tracks[index]
        let (from, to) = (track.packetTimeBase, track.timeBase)
        // Demuxers subtract Matroska's codec delay, so it is added here.
        packet.pts = from.rescale(packet.pts + track.codecDelay, to: to)
        packet.dts = from.rescale(packet.dts + track.codecDelay, to: to)
        packet.duration = from.rescale(packet.duration, to: to)
        packet.streamIndex = index
        flow.countBytes(packet.size)
        guard let scheduler else { return try writeToMuxer(packet) }
        if let earlier = scheduler.take(packet, track: index) {
            try write(earlier, scheduledBy: scheduler)
        }
    }

    private func write(
        _ packet: borrowing Packet, scheduledBy scheduler: FragmentScheduler
    ) throws(OutputFailure) {
        if scheduler.begins(with: packet, track: packet.streamIndex, isFinished: flow.hasEnded) {
            try endFragment()
        }
        if let segments {
            segments.note(packet, track: packet.streamIndex)
            segments.move(packet, track: packet.streamIndex)
        }
        try writeToMuxer(packet)
    }

    /// Writes a packet. If the muxer or a bitstream filter rejects the data of a copied packet, the error
    /// concerns the packet, not the destination.
    private func writeToMuxer(_ packet: borrowing Packet) throws(OutputFailure) {
        do {
            try muxer?.write(packet)
        } catch {
            let index = packet.streamIndex
            guard error.isInvalidData, inputs[index].isPassthrough, packet.pts != noTimestamp else {
                throw OutputFailure(error)
            }
            let time = MediaTime(ticks: packet.pts, timeBase: tracks[index].timeBase)
            throw OutputFailure(
                error,
                cause: .incompatiblePacket(
                    track: inputs[index].reference, at: time, container: container.name, error))
        }
    }

    // MARK: Fragments

    /// Ends a fragment. If the file is published already, the fragment is written to disk; a segment is
    /// passed to the delegate.
    private func endFragment() throws(OutputFailure) {
        do {
            if let segments { return try end(segments) }
            try muxer?.endFragment()
            guard isPublished, let file else { return }
            if !hasEntryBoxes { try writeEntryBoxes(to: file) }
            let code = file.synchronizeData()
            guard code == 0 else { throw AVError(code: -code, operation: "fdatasync") }
            completeSize = file.size
        } catch {
            throw OutputFailure(error)
        }
    }

    /// Completes a segment and passes it to the delegate.
    private func end(_ segments: SegmentOutput) throws {
        guard segments.profile.hasInitialization else {
            try muxer?.endFragment()
            try segments.passTransportSegment()
            try muxer?.resendTables()
            return
        }
        try muxer?.writeDelayedHeader()
        try segments.passHeader()
        try segments.beginSegment()
        try muxer?.endFragment()
        try segments.passSegment()
    }

    /// Truncates a published file to its last complete fragment and writes it to disk. Returns false if there
    /// is none. No packet may be written afterwards.
    func truncateToLastFragment() -> Bool {
        muxer = nil
        guard let file, completeSize > 0, (try? file.truncate(to: completeSize)) != nil else { return false }
        try? file.synchronize()
        return true
    }

    // MARK: End

    /// Adds the chapters, if they are written at the end of the file. `stop` is the end of a file that
    /// reached its size limit.
    func addLateChapters(endingAt stop: MediaTime?) throws {
        guard header.writesChaptersLate, muxer != nil else { return }
        try OutputHeader.setChapters(header.chapters.ending(at: stop), of: &muxer!, in: container)
    }

    /// Writes the trailer, and then corrects the file's index, or passes the remaining segments to the
    /// delegate.
    func finish() throws {
        try muxer?.finish(flushing: !container.model.endsWithTrailer)
        muxer = nil
        if let file { try correctIndex(of: file) } else { try segments?.passRest() }
    }

    private func writeEntryBoxes(to file: TemporaryFile) throws {
        guard let source = FileSource(borrowing: file.descriptor) else { return }
        try MoviePatcher.apply(tracks.map(\.entryBoxes), to: source) { bytes, offset in
            try MoviePatcher.write(bytes, at: offset, to: file.descriptor)
        }
        hasEntryBoxes = true
    }

    private func correctIndex(of file: TemporaryFile) throws {
        guard container.hasEditLists else { return }
        if !hasEntryBoxes { try writeEntryBoxes(to: file) }
        let scale = Rational(1, movieTimescale)
        let patches = zip(inputs, tracks).enumerated().map { index, pair in
            let (input, track) = pair
            var patch = MoviePatcher(mediaTimescale: Int64(track.timeBase.den))
            if let hidden = input.ending.delay {
                let unit = track.packetTimeBase
                patch.start = (unit.rescale(hidden.delay, to: scale), unit.rescale(hidden.padding, to: scale))
            }
            patch.end = scheduler?.end(of: index).map { track.timeBase.rescale($0, to: scale) }
            patch.shownEnd = input.shownEnd?.ticks(in: scale)
            patch.hasInBandSets = input.ending.hasOtherParameterSets
            return patch
        }
        try MoviePatcher.apply(patches, to: file.descriptor)
    }
}
