internal import CFFmpeg

/// An open source (`AVFormatContext` for reading), confined to one queue at a time.
///
/// Opening is safe by default: this process opens the file and reads it through a descriptor, the format must be on a
/// list, files that the source refers to aren't opened, and resource limits apply.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct Demuxer: ~Copyable, @unchecked Sendable {
    let context: UnsafeMutablePointer<AVFormatContext>
    private let io: UnsafeMutablePointer<AVIOContext>
    // Kept alive for the context's interrupt callback, which refers to it.
    private let interrupt: InterruptFlag
    /// Path or URL that was passed to `open`.
    package let path: String
    /// Bytes of the file, for inspection of structures that libavformat doesn't report.
    package let source: any ByteSource
    /// Size of the file in bytes.
    package let fileSize: Int64
    /// Kinds of blocks of a WebVTT file that were dropped (`WebVTTText`).
    private let droppedText: Set<String>
    /// Properties of the container.
    package let model: DemuxerModel
    /// Media time at which a stream's presentation begins, by stream index, for streams that declare it in a tag that
    /// libavformat doesn't apply to timestamps. `read` subtracts the time from timestamps, and `seek` adds it. `read`
    /// also clears the samples to drop at the start (`AV_PKT_DATA_SKIP_SAMPLES`), which libavformat derives from the
    /// same tag.
    package var origins: [Int: Int64] = [:]
    /// Further parts of a package, whose streams follow those of this demuxer; nil for a single file.
    var further: FurtherParts?

    private init(
        adopting context: UnsafeMutablePointer<AVFormatContext>, io: UnsafeMutablePointer<AVIOContext>,
        interrupt: InterruptFlag, path: String, source: any ByteSource, fileSize: Int64
    ) {
        self.context = context
        self.io = io
        self.interrupt = interrupt
        self.path = path
        self.source = source
        self.fileSize = fileSize
        droppedText = (source as? WebVTTText)?.droppedBlocks ?? []
        model = .named(String(cString: context.pointee.iformat.pointee.name))
    }

    deinit {
        var copy: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&copy)
        InputContext.free(io)
    }

    /// Opens a file, or a URL if network access is allowed, and determines the parameters of its tracks
    /// (`avformat_open_input`, `avformat_find_stream_info`). `container` is the format that an earlier call detected;
    /// it makes probing with some 350 demuxers unnecessary. `read` parses the properties of a track's frames from the
    /// codec's headers and the first packet, or returns nil if frames must be decoded.
    package static func open(
        path: String, environment: SourceEnvironment, interrupt: InterruptFlag = InterruptFlag(),
        discovery: StreamDiscovery = .decoding, container: String? = nil,
        read: (_ codec: String, _ headers: [UInt8], _ opening: PacketOpening) -> VideoHeaders? = {
            _, _, _ in
            nil
        }
    ) throws(InputError) -> Demuxer {
        if let package = environment.packages[path] {
            return try open(
                package, at: path, environment: environment, interrupt: interrupt, discovery: discovery,
                read: read)
        }
        LogBridge.install()
        let file = try environment.open(path, interrupt: interrupt)
        let source: any ByteSource = try WebVTTText(file, path: path) ?? StreamedLengths(file) ?? file
        let io: UnsafeMutablePointer<AVIOContext>
        do throws(AVError) {
            io = try InputContext.make(over: source, onlyCounts: discovery == .counting)
        } catch {
            throw InputError(path: path, reason: .library(error))
        }
        let context: UnsafeMutablePointer<AVFormatContext>
        do throws(InputError) {
            context = try openContext(
                io: io, path: path, limits: environment.limits, interrupt: interrupt, discovery: discovery,
                container: container
            ) { codec, headers, stream in
                opening(of: stream, in: source).flatMap { read(codec, headers, $0) }
            }
        } catch {
            InputContext.free(io)
            throw file.failure.map { InputError(path: path, reason: .library($0)) } ?? error
        }
        // Data in the header (attachments, long codec headers) must be read completely. Payloads are skipped only
        // after the header.
        let demuxer = Demuxer(
            adopting: context, io: io, interrupt: interrupt, path: path, source: source, fileSize: file.size)
        if discovery == .counting, discovery.isEnough(in: demuxer.model) { InputContext.skipPayloads(of: io) }
        if let problem = CueFileCheck.problem(of: file, in: demuxer.model) {
            throw InputError(path: path, reason: problem)
        }
        if let failure = file.failure { throw InputError(path: path, reason: .library(failure)) }
        return demuxer
    }

    private static func openContext(
        io: UnsafeMutablePointer<AVIOContext>, path: String, limits: InputLimits, interrupt: InterruptFlag,
        discovery: StreamDiscovery, container: String?, read: StreamReader
    ) throws(InputError) -> UnsafeMutablePointer<AVFormatContext> {
        let (format, model) = try recognize(io: io, path: path, container: container)
        guard let allocated = LogBridge.fresh(avformat_alloc_context()) else {
            throw InputError(path: path, reason: .library(.outOfMemory("avformat_alloc_context")))
        }
        allocated.pointee.pb = io
        allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        allocated.pointee.interrupt_callback = interrupt.callback
        // Files that the source refers to aren't opened.
        allocated.pointee.io_open = { _, _, _, _, _ in tandem_eacces }

        var context: UnsafeMutablePointer<AVFormatContext>? = allocated
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        av_dict_set(&options, "format_whitelist", DemuxerModel.whitelist, 0)
        av_dict_set(&options, "protocol_whitelist", "file", 0)
        av_dict_set_int(&options, "max_streams", Int64(limits.maxStreams), 0)
        av_dict_set_int(&options, "probesize", limits.probeSize, 0)
        av_dict_set_int(&options, "analyzeduration", limits.analyzeDuration, 0)
        av_dict_set_int(&options, "enable_drefs", 0, 0)
        // On failure, the library frees the context but not the I/O context.
        let code = avformat_open_input(&context, "file:" + path, format, &options)
        guard code >= 0, let context else {
            throw InputError(
                path: path,
                reason: .library(
                    AVError(
                        code: code, operation: "avformat_open_input",
                        detail: LogBridge.takeLastLine(of: allocated))))
        }
        if discovery.isEnough(in: model), context.pointee.nb_streams > 0 {
            return context
        }
        do throws(InputError) {
            try findStreams(context, model, path: path, limits: limits, read: read)
        } catch {
            var copy: UnsafeMutablePointer<AVFormatContext>? = context
            avformat_close_input(&copy)
            throw error
        }
        return context
    }

    /// Detects the format by content unless `container` is set; the file's name is ignored. Throws if the format
    /// isn't allowed.
    private static func recognize(
        io: UnsafeMutablePointer<AVIOContext>, path: String, container: String?
    ) throws(InputError) -> (UnsafePointer<AVInputFormat>, DemuxerModel) {
        var format: UnsafePointer<AVInputFormat>?
        if let first = container?.split(separator: ",").first { format = av_find_input_format(String(first)) }
        var code: Int32 = 0
        if format == nil {
            code = av_probe_input_buffer2(io, &format, "file:source", nil, 0, UInt32(clamping: 1 << 20))
        }
        guard code >= 0, let format else {
            let isUnknown = code == tandem_invaliddata || format == nil
            let error = AVError(code: code, operation: "av_probe_input_buffer2")
            throw InputError(path: path, reason: isUnknown ? .unrecognized : .library(error))
        }
        let name = String(cString: format.pointee.name)
        if DemuxerModel.names(in: name).contains(where: DemuxerModel.formatsReferencingFiles.contains) {
            throw InputError(path: path, reason: .referencesFiles(format: name))
        }
        guard let model = DemuxerModel.allowed(name) else {
            throw InputError(path: path, reason: .formatNotAllowed(format: name))
        }
        return (format, model)
    }

    /// A function that parses the properties of frames from a stream's codec and headers.
    private typealias StreamReader = (String, [UInt8], UnsafeMutablePointer<AVStream>) -> VideoHeaders?

    /// Returns the beginning of a stream's first packet, if the index contains its position.
    private static func opening(
        of stream: UnsafeMutablePointer<AVStream>, in source: any ByteSource
    ) -> PacketOpening? {
        guard avformat_index_get_entries_count(stream) > 0,
            let entry = avformat_index_get_entry(stream, 0)?.pointee, entry.pos >= 0, entry.size > 0,
            let bytes = source.bytes(at: entry.pos, min(Int(entry.size), 1 << 14))
        else { return nil }
        return PacketOpening(
            file: source, trackID: Int(stream.pointee.id), bytes: bytes, size: Int(entry.size))
    }

    private static func findStreams(
        _ context: UnsafeMutablePointer<AVFormatContext>, _ model: DemuxerModel, path: String,
        limits: InputLimits, read: StreamReader
    ) throws(InputError) {
        try checkCounts(context, path: path)
        // In other containers, libavformat must decode frames to determine presentation times.
        let count = Int(context.pointee.nb_streams)
        // One option dictionary for each stream that is known so far. Streams that are found later have libavformat's
        // limits.
        let options = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: max(count, 1))
        options.initialize(repeating: nil, count: max(count, 1))
        defer {
            for i in 0..<max(count, 1) { av_dict_free(&options[i]) }
            options.deallocate()
        }
        for i in 0..<count {
            av_dict_set_int(&options[i], "max_pixels", limits.maxPixels, 0)
            av_dict_set(&options[i], "threads", "1", 0)
            guard model.describesFramesInHeader, let stream = context.pointee.streams[i],
                let parameters = stream.pointee.codecpar,
                parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO,
                let bytes = parameters.pointee.extradata, parameters.pointee.extradata_size > 0
            else { continue }
            let headers = [UInt8](
                UnsafeBufferPointer(start: bytes, count: Int(parameters.pointee.extradata_size)))
            let codec = String(cString: avcodec_get_name(parameters.pointee.codec_id))
            // Decoding the first frame for its properties would be the most expensive part of probing.
            if let declared = read(codec, headers, stream),
                declared.apply(&parameters.pointee, maxPixels: limits.maxPixels)
            {
                av_dict_set(&options[i], "skip_frame", "all", 0)
            }
        }
        let code = avformat_find_stream_info(context, count > 0 ? options : nil)
        guard code >= 0 else {
            throw InputError(
                path: path,
                reason: .library(
                    AVError(
                        code: code, operation: "avformat_find_stream_info",
                        detail: LogBridge.takeLastLine(of: context))))
        }
        guard context.pointee.nb_streams > 0 else { throw InputError(path: path, reason: .noTracks) }
        guard context.pointee.nb_streams <= UInt32(clamping: limits.maxStreams) else {
            throw InputError(path: path, reason: .tooManyTracks(Int(context.pointee.nb_streams)))
        }
    }

    /// Throws if the file has more chapters or tags than the limits allow.
    private static func checkCounts(
        _ context: UnsafeMutablePointer<AVFormatContext>, path: String
    ) throws(InputError) {
        let chapters = Int(context.pointee.nb_chapters)
        guard chapters <= InputLimits.maxChapters else {
            throw InputError(path: path, reason: .tooManyChapters(chapters))
        }
        let streams = (0..<context.pointee.nb_streams).map { tandem_stream(context, $0)?.pointee.metadata }
        let tags = ([context.pointee.metadata] + streams).map { Int(av_dict_count($0)) }.max() ?? 0
        guard tags <= InputLimits.maxTags else {
            throw InputError(path: path, reason: .tooManyTags(tags))
        }
    }

    // MARK: Contents

    /// Names of the format, separated by commas (`mov,mp4,m4a,3gp,3g2,mj2`).
    package var formatName: String { String(cString: context.pointee.iformat.pointee.name) }

    /// Number of streams that are known so far; some demuxers add streams while packets are read.
    package var streamCount: Int { further?.streamCount ?? ownStreamCount }

    private var ownStreamCount: Int { Int(context.pointee.nb_streams) }

    /// Tags of the file.
    package var metadata: [MetadataEntry] { LibAV.metadata(context.pointee.metadata) }

    /// Earliest start of any stream, in microseconds; nil if unknown.
    package var startTime: Int64? {
        context.pointee.start_time == noTimestamp ? nil : context.pointee.start_time
    }

    /// Duration in microseconds, as declared by the header or estimated; nil if unknown.
    package var duration: Int64? { context.pointee.duration == noTimestamp ? nil : context.pointee.duration }

    /// Whether the duration is estimated from file size and bit rate.
    package var isDurationGuessed: Bool {
        context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
    }

    /// Returns the properties of a stream that the container declares.
    package func stream(_ index: Int) throws(AVError) -> StreamInfo {
        if let (part, own) = part(of: index) {
            var info = try part.demuxer.stream(own)
            info.index = index
            return info
        }
        guard let stream = tandem_stream(context, UInt32(clamping: index)) else {
            throw AVError(code: tandem_einval, operation: "stream \(index)")
        }
        var info = StreamInfo(
            index: index, id: Int(stream.pointee.id),
            parameters: try CodecParameters(copying: stream.pointee.codecpar),
            timeBase: Rational(stream.pointee.time_base),
            startTime: stream.pointee.start_time == noTimestamp ? nil : stream.pointee.start_time,
            duration: stream.pointee.duration == noTimestamp ? nil : stream.pointee.duration,
            indexedPackets: 0,
            averageFrameRate: positive(stream.pointee.avg_frame_rate),
            baseFrameRate: positive(stream.pointee.r_frame_rate),
            sampleAspectRatio: positive(av_guess_sample_aspect_ratio(context, stream, nil)),
            disposition: Self.dispositions(stream.pointee.disposition),
            metadata: LibAV.metadata(stream.pointee.metadata), sideData: Self.sideData(stream))
        if info.hasSeparateAlpha, info.parameters.pixelFormat.av == AV_PIX_FMT_YUV420P,
            InputLimits.decodesAlpha(of: info.parameters)
        {
            info.parameters = try info.parameters.withAlpha()
        }
        info.sideData += droppedText.sorted().map {
            StreamSideData(type: .max, kind: SideDataKind(rawValue: $0), bytes: [])
        }
        let entries = avformat_index_get_entries_count(stream)
        info.indexedPackets = Int(entries)
        info.firstIndexedTime = avformat_index_get_entry(stream, 0)?.pointee.timestamp
        info.lastIndexedTime = avformat_index_get_entry(stream, entries - 1)?.pointee.timestamp
        return info
    }

    /// The properties of a stream according to its index: the number of packets that are never presented, and the
    /// order of decoding times.
    package struct IndexSummary: Sendable {
        /// Whether decoding times don't increase strictly.
        package var isUnordered = false
        /// Number of packets that are never presented.
        package var all = 0
        /// Number of such packets before the first presented packet.
        package var leading = 0
        /// Number of such packets between presented packets, in decoding order.
        package var inner = 0
        /// Decoding time of the first packet; nil without an index.
        package var firstTime: Int64?

        /// Creates the summary of a stream without an index.
        package init() {}
    }

    /// Returns the summary of a stream's index (`avformat_index_get_entry`, `AVINDEX_DISCARD_FRAME`).
    package func indexSummary(of index: Int) -> IndexSummary {
        if let (part, own) = part(of: index) { return part.demuxer.indexSummary(of: own) }
        var found = IndexSummary()
        var last = Int64.min
        guard let stream = tandem_stream(context, UInt32(clamping: index)) else { return found }
        for i in 0..<max(0, avformat_index_get_entries_count(stream)) {
            guard let entry = avformat_index_get_entry(stream, i) else { continue }
            if i == 0 { found.firstTime = entry.pointee.timestamp }
            if entry.pointee.timestamp <= last { found.isUnordered = true }
            last = entry.pointee.timestamp
            if entry.pointee.flags & AVINDEX_DISCARD_FRAME != 0 {
                if found.all == Int(i) { found.leading += 1 }
                found.all += 1
            } else {
                found.inner = found.all - found.leading
            }
        }
        return found
    }

    package var chapters: [ChapterInfo] {
        (0..<Int(context.pointee.nb_chapters)).compactMap { i in
            guard let chapter = context.pointee.chapters[i] else { return nil }
            return ChapterInfo(
                timeBase: Rational(chapter.pointee.time_base), start: chapter.pointee.start,
                end: chapter.pointee.end, metadata: LibAV.metadata(chapter.pointee.metadata))
        }
    }

    private func positive(_ value: AVRational) -> Rational? {
        value.num > 0 && value.den > 0 ? Rational(value) : nil
    }

    private static func dispositions(_ flags: Int32) -> Set<String> {
        var names: Set<String> = []
        for bit in 0..<31 where flags & (1 << bit) != 0 {
            if let name = av_disposition_to_string(1 << bit) { names.insert(String(cString: name)) }
        }
        return names
    }

    private static func sideData(_ stream: UnsafeMutablePointer<AVStream>) -> [StreamSideData] {
        (0..<tandem_stream_side_data_count(stream)).compactMap { i in
            guard let datum = tandem_stream_side_data(stream, i)?.pointee else { return nil }
            let kind: SideDataKind
            switch datum.type {
            case AV_PKT_DATA_DISPLAYMATRIX: kind = .displayMatrix
            case AV_PKT_DATA_MASTERING_DISPLAY_METADATA: kind = .masteringDisplay
            case AV_PKT_DATA_CONTENT_LIGHT_LEVEL: kind = .contentLight
            case AV_PKT_DATA_DOVI_CONF: kind = .dolbyVision
            default:
                kind = SideDataKind(
                    rawValue: av_packet_side_data_name(datum.type).map { String(cString: $0) }
                        ?? "\(datum.type.rawValue)")
            }
            let bytes = datum.data.map { Array(UnsafeBufferPointer(start: $0, count: datum.size)) } ?? []
            return StreamSideData(type: datum.type.rawValue, kind: kind, bytes: bytes)
        }
    }

    /// Returns the image file of a cover stream (`AVStream.attached_pic`); nil for other streams.
    package func attachedPicture(of index: Int) -> [UInt8]? {
        if let (part, own) = part(of: index) { return part.demuxer.attachedPicture(of: own) }
        guard let stream = tandem_stream(context, UInt32(clamping: index)),
            stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0,
            let data = stream.pointee.attached_pic.data, stream.pointee.attached_pic.size > 0
        else { return nil }
        return Array(UnsafeBufferPointer(start: data, count: Int(stream.pointee.attached_pic.size)))
    }

    // MARK: Reading

    /// Selects the streams to read; other streams are discarded as early as the format allows
    /// (`AVDISCARD_ALL`).
    package func select(_ indices: Set<Int>) {
        for i in 0..<ownStreamCount {
            tandem_stream(context, UInt32(i))?.pointee.discard =
                indices.contains(i) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
        further?.select(indices)
    }

    /// Reads the next packet in file order. Returns false at the end (`av_read_frame`).
    package func read(into packet: borrowing Packet) throws(AVError) -> Bool {
        guard let further else { return try readOwn(into: packet) }
        return try read(into: packet, among: further)
    }

    /// Reads the next packet of this demuxer alone.
    func readOwn(into packet: borrowing Packet) throws(AVError) -> Bool {
        packet.unreference()
        let code = av_read_frame(context, packet.raw)
        Activity.note()
        if let failure = source.failure { throw failure }
        if code == tandem_eof {
            if model.reportsLossInLog, let line = LogBridge.takeLastLine(of: context) {
                throw AVError(code: tandem_invaliddata, operation: "av_read_frame", detail: line)
            }
            return false
        }
        try check(code, "av_read_frame", context: context)
        // Invalid data was skipped.
        if model.reportsLossInLog, let line = LogBridge.takeLastLine(of: context) {
            var error = AVError(code: tandem_invaliddata, operation: "av_read_frame", detail: line)
            error.isPartial = true
            throw error
        }
        if let origin = origins[packet.streamIndex] { present(packet, from: origin) }
        return true
    }

    /// Moves a packet's timestamps, so that the presentation begins at a media time.
    func present(_ packet: borrowing Packet, from origin: Int64) {
        if packet.pts != noTimestamp { packet.pts = packet.pts.adding(upToLimit: -origin) }
        if packet.dts != noTimestamp { packet.dts = packet.dts.adding(upToLimit: -origin) }
        packet.presentFromStart()
    }

    /// Seeks to the last keyframe of a stream whose index timestamp is at or before `timestamp`
    /// (`avformat_seek_file`). In mov and mp4, index timestamps are decoding times.
    package func seek(stream: Int, before timestamp: Int64) throws(AVError) {
        if let further { return try seek(stream: stream, before: timestamp, among: further) }
        try seekOwn(stream: stream, before: timestamp)
    }

    /// Seeks in this demuxer alone.
    func seekOwn(stream: Int, before timestamp: Int64) throws(AVError) {
        let time = timestamp.adding(upToLimit: origins[stream] ?? 0)
        try check(
            avformat_seek_file(context, Int32(clamping: stream), Int64.min, time, time, 0),
            "avformat_seek_file", context: context)
    }
}
