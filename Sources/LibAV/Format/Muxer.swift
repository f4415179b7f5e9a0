internal import CFFmpeg

/// An output being written (`AVFormatContext` for writing) into a file descriptor, confined to one queue.
/// The trailer is written by `finish()`, once; releasing only frees.
///
/// Unchecked `Sendable`: one owner, which moves with the value.
package struct Muxer: ~Copyable, @unchecked Sendable {
    /// Matroska's muxer moves packets by the delay of their codec itself, which every reader takes off.
    package static var addsCodecDelay: Bool { tandem_matroska_adds_delay() != 0 }

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let io: UnsafeMutablePointer<AVIOContext>
    private let sink: FileSink

    private init(
        adopting context: UnsafeMutablePointer<AVFormatContext>, io: UnsafeMutablePointer<AVIOContext>,
        sink: FileSink
    ) {
        self.context = context
        self.io = io
        self.sink = sink
    }

    private var hasFragments = false

    deinit {
        avformat_free_context(context)
        FileSink.free(io)
    }

    /// A muxer of that libavformat name (`mp4`, `matroska`, …) over an open descriptor.
    package static func open(format: String, descriptor: Int32) throws(AVError) -> Muxer {
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        let code = avformat_alloc_output_context2(&allocated, nil, format, nil)
        guard code >= 0, let context = LogBridge.fresh(allocated) else {
            throw AVError(code: code, operation: "avformat_alloc_output_context2")
        }
        let sink = FileSink(descriptor: descriptor)
        let io: UnsafeMutablePointer<AVIOContext>
        do throws(AVError) {
            io = try sink.makeContext()
        } catch {
            avformat_free_context(context)
            throw error
        }
        context.pointee.pb = io
        // What a decoder needs comes so much before it is due, as `ffmpeg -muxdelay` has it; without it a transport
        // stream's clock says that everything comes at the last moment, and each packet of audio fills cells of its own.
        context.pointee.max_delay = 700_000
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        context.pointee.opaque = Unmanaged.passUnretained(sink).toOpaque()
        // The pass that moves the index forward opens its own output for reading; nothing else is opened.
        context.pointee.io_open = { context, target, _, flags, _ in
            guard let context, let target, let opaque = context.pointee.opaque, flags & AVIO_FLAG_WRITE == 0
            else {
                return tandem_eacces
            }
            let sink = Unmanaged<FileSink>.fromOpaque(opaque).takeUnretainedValue()
            do throws(AVError) {
                guard let source = FileSource(borrowing: sink.descriptor) else { return tandem_eio }
                target.pointee = try InputContext.make(over: source)
                return 0
            } catch {
                return error.code
            }
        }
        // That pass takes a read error for the end of data; what close returns is all it checks.
        context.pointee.io_close2 = { _, io in
            guard let io else { return 0 }
            let failure = io.pointee.error
            InputContext.free(io)
            return failure
        }
        return Muxer(adopting: context, io: io, sink: sink)
    }

    /// Headers of codecs go beside the packets, not into them (`AVFMT_GLOBALHEADER`).
    package var wantsGlobalHeaders: Bool { context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

    /// Leaves time stamps as they are instead of moving the whole file to begin at 0.
    package func keepNegativeTimestamps() { context.pointee.avoid_negative_ts = 0 }

    /// Adds chapters, once: before the header, or for mp4, mov and Matroska before the trailer (`AVChapter`). Those without a title get an
    /// empty one where `titlesAll` is set: the mov muxer writes no sample for a chapter without a title, and its reader then pairs the
    /// other titles with the wrong times.
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
            // Matroska's muxer compares every identifier with all before it until it finds a 0, for which it numbers the chapters itself.
            entry.pointee.id = Int64(index)
            entry.pointee.time_base = timeBase.av
            entry.pointee.start = chapter.start
            entry.pointee.end = chapter.end
            if let title = chapter.title ?? (titlesAll ? "" : nil) {
                av_dict_set(&entry.pointee.metadata, "title", title, 0)
            }
            // The muxer's context frees the list with its entries.
            context.pointee.chapters = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
            context.pointee.chapters[index] = entry
            context.pointee.nb_chapters = UInt32(index + 1)
        }
    }

    /// The identifier by which Matroska's muxer decides whether it compares all of them.
    var firstChapterIdentifier: Int64? {
        context.pointee.nb_chapters > 0 ? context.pointee.chapters[0]?.pointee.id : nil
    }

    /// Adds the output's own tags.
    package func setMetadata(_ entries: [MetadataEntry]) {
        for entry in entries { av_dict_set(&context.pointee.metadata, entry.key, entry.value, 0) }
    }

    /// Adds a stream and returns its index. `codecTag` forces a four-character code (`hvc1`).
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

    /// Hides the pixel format of H.264 from the mov muxer, which would choose a tag of AVC-Intra (`ai1q`) wherever pixel format, size and
    /// rate are those of an AVC-Intra class, whatever tag is set (`mov_get_h264_codec_tag`). Readers take packets under such a tag for
    /// Annex B, and decode nothing. AVC-Intra that is copied keeps its tag.
    private func keepMuxerFromGuessing(_ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard parameters.pointee.codec_id == AV_CODEC_ID_H264 else { return }
        // "ai", in the order of a file's bytes.
        let isAVCIntra = parameters.pointee.codec_tag & 0xffff == 0x6961
        if !isAVCIntra { parameters.pointee.format = AV_PIX_FMT_NONE.rawValue }
    }

    /// Adds a cover as a stream of its own, after all others; its one packet is written right after the header.
    package func addCover(_ parameters: CodecParameters, metadata: [MetadataEntry]) throws(AVError) -> Int {
        let index = try addStream(parameters, timeBase: Rational(1, 90_000), metadata: metadata)
        tandem_stream(context, UInt32(index))?.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
        return index
    }

    /// Adds a file that travels along (Matroska's attachments), named by `filename` and `mimetype` in its metadata.
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

    /// A source's tag is kept where it means the same codec here, and left to the muxer otherwise.
    private func tag(for parameters: CodecParameters, forced: String?) -> UInt32 {
        if let forced, forced.utf8.count == 4 {
            return forced.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
        }
        let tag = parameters.raw.pointee.codec_tag
        guard tag != 0, let tables = context.pointee.oformat.pointee.codec_tag else { return 0 }
        return av_codec_get_id(tables, tag) == parameters.raw.pointee.codec_id ? tag : 0
    }

    /// Writes the header; an option that nobody takes is an error (`avformat_write_header`).
    package func writeHeader(options: [(key: String, value: String)]) throws(AVError) {
        var dictionary = AVDictionaryOwner(options)
        sink.isMovedAtEnd = options.contains { $0.key == "movflags" && $0.value.contains("faststart") }
        try check(avformat_write_header(context, &dictionary.raw), "avformat_write_header", context: context)
        if let unknown = dictionary.keys.first {
            throw AVError(
                code: tandem_option_not_found, operation: "avformat_write_header",
                detail: "option \(unknown) not taken")
        }
    }

    /// The unit of a stream's time stamps, which the header may have changed.
    package func timeBase(of index: Int) -> Rational {
        tandem_stream(context, UInt32(clamping: index)).map { Rational($0.pointee.time_base) }
            ?? Rational(1, 1)
    }

    /// Writes a packet, in the order given; its time stamps are in the stream's time base (`av_write_frame`).
    package func write(_ packet: borrowing Packet) throws(AVError) {
        try check(av_write_frame(context, packet.raw), "av_write_frame", context: context)
        try checkSink("write")
    }

    /// Ends a fragment of a movie that is written in fragments: what comes next begins another.
    package mutating func endFragment() throws(AVError) {
        // The first time writes the header, which waits for every track's first packet.
        for _ in 0..<(hasFragments ? 1 : 2) {
            try check(av_write_frame(context, nil), "av_write_frame", context: context)
        }
        hasFragments = true
        // It is to be on disk as far as it got.
        avio_flush(io)
        try checkSink("write")
    }

    /// Drains the muxer's bit-stream filters, writes the trailer and all that is buffered, and reports
    /// any write error since the beginning.
    ///
    /// `flushing` drains them before the trailer; a container whose last page says that it is the last has that from the trailer.
    package func finish(flushing: Bool = true) throws(AVError) {
        if flushing {
            try check(av_write_frame(context, nil), "av_write_frame", context: context)
        }
        try check(av_write_trailer(context), "av_write_trailer", context: context)
        avio_flush(io)
        try check(io.pointee.error, "avio_flush")
        try checkSink("write")
    }

    /// Bytes written, those of rewritten headers included.
    package var bytesWritten: Int64 { sink.bytesWritten }

    /// Where the next byte goes, what is still buffered included (`avio_tell`).
    package var position: Int64 { avio_seek(io, 0, SEEK_CUR) }

    private func checkSink(_ operation: String) throws(AVError) {
        if sink.failure < 0 { throw AVError(code: sink.failure, operation: operation) }
    }
}
