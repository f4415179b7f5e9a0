internal import CFFmpeg

/// An output file that is written through a file descriptor (`AVFormatContext` for writing), confined to one queue.
/// `finish()` writes the trailer and must be called once; deinitialization only frees memory.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct Muxer: ~Copyable, @unchecked Sendable {
    /// Whether libavformat's Matroska muxer adds the codec delay to timestamps. The demuxers of all versions subtract
    /// it.
    package static var addsCodecDelay: Bool { tandem_matroska_adds_delay() != 0 }

    /// Maximum demux-decode delay in microseconds (`max_delay`). The MPEG-TS muxer adds twice this time to all timestamps.
    package static let maxDelay: Int32 = 700_000

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let io: UnsafeMutablePointer<AVIOContext>
    private let sink: OutputSink

    private init(
        adopting context: UnsafeMutablePointer<AVFormatContext>, io: UnsafeMutablePointer<AVIOContext>,
        sink: OutputSink
    ) {
        self.context = context
        self.io = io
        self.sink = sink
    }

    private var hasFragments = false

    deinit {
        avformat_free_context(context)
        OutputSink.free(io)
    }

    /// Opens a muxer by its name in libavformat (`mp4`, `matroska`, …) on an open descriptor, which the caller
    /// closes.
    package static func open(format: String, descriptor: Int32) throws(AVError) -> Muxer {
        try open(format: format, sink: FileSink(descriptor: descriptor))
    }

    /// Opens a muxer by its name in libavformat on an output.
    package static func open(format: String, sink: OutputSink) throws(AVError) -> Muxer {
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&allocated, nil, format, nil)
        guard code >= 0, let context = LogBridge.fresh(allocated) else {
            throw AVError(code: code, operation: "avformat_alloc_output_context2")
        }
        let io: UnsafeMutablePointer<AVIOContext>
        do throws(AVError) {
            io = try sink.makeContext()
        } catch {
            avformat_free_context(context)
            throw error
        }
        context.pointee.pb = io
        // As with `ffmpeg -muxdelay 0.7`. With a delay of 0, MPEG-TS sends each packet just before its decoding time, so
        // that each audio packet occupies separate TS packets.
        context.pointee.max_delay = maxDelay
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        context.pointee.opaque = Unmanaged.passUnretained(sink).toOpaque()
        // The faststart pass, which moves the index to the front, opens the output for reading. Other files aren't
        // opened.
        context.pointee.io_open = { context, target, _, flags, _ in
            guard let context, let target, let opaque = context.pointee.opaque, flags & AVIO_FLAG_WRITE == 0
            else {
                return tandem_eacces
            }
            let sink = Unmanaged<OutputSink>.fromOpaque(opaque).takeUnretainedValue()
            do throws(AVError) {
                guard let source = sink.makeSource() else { return tandem_eio }
                target.pointee = try InputContext.make(over: source)
                return 0
            } catch {
                return error.code
            }
        }
        // The faststart pass treats a read error as the end of the data, and checks only the result of closing.
        context.pointee.io_close2 = { _, io in
            guard let io else { return 0 }
            let failure = io.pointee.error
            InputContext.free(io)
            return failure
        }
        return Muxer(adopting: context, io: io, sink: sink)
    }

    /// Disables the shift of negative timestamps to 0 (`avoid_negative_ts`).
    package func keepNegativeTimestamps() { context.pointee.avoid_negative_ts = 0 }

    /// Adds chapters (`AVChapter`). Must be called once: before the header, or for mp4, mov and Matroska before the
    /// trailer. With `titlesAll`, chapters without a title get an empty one: the mov muxer writes no sample for a
    /// chapter without a title, and the demuxer then pairs the other titles with the wrong times.
    package func setChapters(
        _ chapters: [(start: Int64, end: Int64, title: String?)], timeBase: Rational,
        titlesAll: Bool = false
    ) throws(AVError) {
        for (index, chapter) in chapters.enumerated() {
            guard
                let memory = av_mallocz(MemoryLayout<AVChapter>.size),
                let list = av_realloc_array(
                    context.pointee.chapters, index + 1, MemoryLayout<UnsafeMutablePointer<AVChapter>?>.size)
            else { throw .outOfMemory("av_mallocz") }
            let entry = memory.assumingMemoryBound(to: AVChapter.self)
            // The Matroska muxer compares each identifier with all previous ones until it finds a 0; then it numbers
            // the chapters itself.
            entry.pointee.id = Int64(index)
            entry.pointee.time_base = timeBase.av
            entry.pointee.start = chapter.start
            entry.pointee.end = chapter.end
            if let title = chapter.title ?? (titlesAll ? "" : nil) {
                av_dict_set(&entry.pointee.metadata, "title", title, 0)
            }
            // The list and its entries are freed with the context.
            context.pointee.chapters = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
            context.pointee.chapters[index] = entry
            context.pointee.nb_chapters = UInt32(index + 1)
        }
    }

    /// Identifier of the first chapter, on which the Matroska muxer's comparison of identifiers depends; for
    /// tests.
    var firstChapterIdentifier: Int64? {
        context.pointee.nb_chapters > 0 ? context.pointee.chapters[0]?.pointee.id : nil
    }

    /// Adds tags to the file. Must be called before the header is written.
    package func setMetadata(_ entries: [MetadataEntry]) {
        for entry in entries { av_dict_set(&context.pointee.metadata, entry.key, entry.value, 0) }
    }

    /// Adds a stream and returns its index. `codecTag` sets the four-character code (`hvc1`); without it, see
    /// `tag(for:forced:)`.
    package func addStream(
        _ parameters: CodecParameters, timeBase: Rational, frameRate: Rational? = nil,
        sampleAspectRatio: Rational? = nil, metadata: [MetadataEntry] = [], disposition: Set<String> = [],
        sideData: [StreamSideData] = [], codecTag: String? = nil
    ) throws(AVError) -> Int {
        guard let stream = avformat_new_stream(context, nil) else {
            throw .outOfMemory("avformat_new_stream")
        }
        try check(avcodec_parameters_copy(stream.pointee.codecpar, parameters.raw), "avcodec_parameters_copy")
        stream.pointee.codecpar.pointee.codec_tag = tag(for: parameters, forced: codecTag)
        keepMuxerFromGuessing(stream.pointee.codecpar)
        stream.pointee.time_base = timeBase.av
        if let frameRate { stream.pointee.avg_frame_rate = frameRate.av }
        if let sampleAspectRatio {
            stream.pointee.sample_aspect_ratio = sampleAspectRatio.av
            stream.pointee.codecpar.pointee.sample_aspect_ratio = sampleAspectRatio.av
        }
        for entry in metadata { av_dict_set(&stream.pointee.metadata, entry.key, entry.value, 0) }
        for name in disposition where name != "attached_pic" {
            let flag = av_disposition_from_string(name)
            if flag > 0 { stream.pointee.disposition |= flag }
        }
        tandem_stream_clear_side_data(stream)
        for datum in sideData {
            guard
                let copy = tandem_stream_new_side_data(
                    stream, AVPacketSideDataType(datum.type), datum.bytes.count)
            else {
                throw .outOfMemory("av_stream_new_side_data")
            }
            datum.bytes.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress {
                    copy.update(from: base.assumingMemoryBound(to: UInt8.self), count: bytes.count)
                }
            }
        }
        return Int(stream.pointee.index)
    }

    /// Removes the pixel format of H.264 from the parameters for the mov muxer. If pixel format, size and rate match
    /// an AVC-Intra class, the muxer would otherwise choose the tag of that class (`ai1q`) and ignore `codec_tag`
    /// (`mov_get_h264_codec_tag`). Demuxers treat packets with such a tag as Annex B, so that they can't be decoded.
    /// Copied AVC-Intra keeps its tag.
    private func keepMuxerFromGuessing(_ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard parameters.pointee.codec_id == AV_CODEC_ID_H264 else { return }
        // The characters "ai", in the byte order of the file.
        let isAVCIntra = parameters.pointee.codec_tag & 0xffff == 0x6961
        if !isAVCIntra { parameters.pointee.format = AV_PIX_FMT_NONE.rawValue }
    }

    /// Adds a cover as a separate stream after all others. Its single packet must be written directly after
    /// the header.
    package func addCover(_ parameters: CodecParameters, metadata: [MetadataEntry]) throws(AVError) -> Int {
        let index = try addStream(parameters, timeBase: Rational(1, 90_000), metadata: metadata)
        tandem_stream(context, UInt32(index))?.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
        return index
    }

    /// Adds an attachment (Matroska), with `filename` and `mimetype` in its metadata.
    package func addAttachment(_ bytes: [UInt8], metadata: [MetadataEntry]) throws(AVError) {
        guard let stream = avformat_new_stream(context, nil),
            let memory = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        else { throw .outOfMemory("avformat_new_stream") }
        let copy = memory.assumingMemoryBound(to: UInt8.self)
        for (index, byte) in bytes.enumerated() { copy[index] = byte }
        stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
        stream.pointee.codecpar.pointee.extradata = copy
        stream.pointee.codecpar.pointee.extradata_size = Int32(clamping: bytes.count)
        for entry in metadata { av_dict_set(&stream.pointee.metadata, entry.key, entry.value, 0) }
    }

    /// Returns the codec tag of a stream: `forced` if it is set, otherwise the source's tag if it denotes the same
    /// codec in this container, otherwise 0, for which the muxer chooses a tag.
    private func tag(for parameters: CodecParameters, forced: String?) -> UInt32 {
        if let forced, forced.utf8.count == 4 {
            return forced.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
        }
        let tag = parameters.raw.pointee.codec_tag
        guard tag != 0, let tables = context.pointee.oformat.pointee.codec_tag else { return 0 }
        return av_codec_get_id(tables, tag) == parameters.raw.pointee.codec_id ? tag : 0
    }

    /// Writes the header. An option that the muxer doesn't support is an error (`avformat_write_header`).
    package func writeHeader(options: [(key: String, value: String)]) throws(AVError) {
        var dictionary = AVDictionaryOwner(options)
        sink.isMovedAtEnd = options.contains { $0.key == "movflags" && $0.value.contains("faststart") }
        try check(avformat_write_header(context, &dictionary.raw), "avformat_write_header", context: context)
        if let unknown = dictionary.keys.first {
            throw AVError(
                code: tandem_option_not_found, operation: "avformat_write_header",
                detail: "the muxer doesn't support the option \(unknown)")
        }
    }

    /// Returns the time base of a stream's timestamps, which the header may have changed.
    package func timeBase(of index: Int) -> Rational {
        tandem_stream(context, UInt32(clamping: index)).map { Rational($0.pointee.time_base) }
            ?? Rational(1, 1)
    }

    /// Writes a packet without reordering. Its timestamps are in the stream's time base (`av_write_frame`).
    package func write(_ packet: borrowing Packet) throws(AVError) {
        try check(av_write_frame(context, packet.raw), "av_write_frame", context: context)
        try checkSink("write")
    }

    /// Writes the header of a fragmented file, which waits for the first packet of every track. Call once every track
    /// has a packet, at the latest before the end of the first fragment.
    package mutating func writeDelayedHeader() throws(AVError) {
        guard !hasFragments else { return }
        hasFragments = true
        try flush()
    }

    /// Ends a fragment of a fragmented file; the next packet begins a new one.
    package mutating func endFragment() throws(AVError) {
        try writeDelayedHeader()
        try flush()
    }

    /// Writes the tables of an MPEG transport stream (PAT, PMT) again before the next packet.
    package func resendTables() throws(AVError) {
        try check(
            av_opt_set(context.pointee.priv_data, "mpegts_flags", "+resend_headers", 0), "av_opt_set",
            context: context)
    }

    private func flush() throws(AVError) {
        try check(av_write_frame(context, nil), "av_write_frame", context: context)
        // Makes the fragment available on disk.
        avio_flush(io)
        try checkSink("write")
    }

    /// Drains the muxer's bitstream filters, writes the trailer and all buffered data, and throws any earlier
    /// write error.
    ///
    /// `flushing` drains the muxer before the trailer is written. Ogg requires false, since the trailer marks the
    /// last page.
    package func finish(flushing: Bool = true) throws(AVError) {
        if flushing {
            try check(av_write_frame(context, nil), "av_write_frame", context: context)
        }
        try check(av_write_trailer(context), "av_write_trailer", context: context)
        avio_flush(io)
        try check(io.pointee.error, "avio_flush")
        try checkSink("write")
    }

    /// Number of bytes written, including rewritten headers.
    package var bytesWritten: Int64 { sink.bytesWritten }

    /// Position of the next byte, including buffered data (`avio_tell`).
    package var position: Int64 { avio_seek(io, 0, SEEK_CUR) }

    private func checkSink(_ operation: String) throws(AVError) {
        if sink.failure < 0 { throw AVError(code: sink.failure, operation: operation) }
    }
}
