// FFmpeg API that Swift can't import: macros as constants, and functions for API that differs between FFmpeg 5.1 and
// later versions.
#ifndef TANDEM_FFMPEG_SHIM_H
#define TANDEM_FFMPEG_SHIM_H

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavcodec/vorbis_parser.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavfilter/version.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
#include <libavutil/md5.h>
#include <libavutil/murmur3.h>
#include <libavutil/sha.h>
#include <libavutil/timecode.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

static const int64_t tandem_nopts = AV_NOPTS_VALUE;
static const int tandem_eagain = AVERROR(EAGAIN);
static const int tandem_eof = AVERROR_EOF;
static const int tandem_exit = AVERROR_EXIT;
static const int tandem_einval = AVERROR(EINVAL);
static const int tandem_enomem = AVERROR(ENOMEM);
static const int tandem_eacces = AVERROR(EACCES);
static const int tandem_eio = AVERROR(EIO);
static const int tandem_invaliddata = AVERROR_INVALIDDATA;
static const int tandem_option_not_found = AVERROR_OPTION_NOT_FOUND;
static const int tandem_encoder_not_found = AVERROR_ENCODER_NOT_FOUND;
static const int tandem_decoder_not_found = AVERROR_DECODER_NOT_FOUND;
static const int tandem_demuxer_not_found = AVERROR_DEMUXER_NOT_FOUND;
static const int tandem_muxer_not_found = AVERROR_MUXER_NOT_FOUND;
static const int tandem_protocol_not_found = AVERROR_PROTOCOL_NOT_FOUND;
static const int tandem_bsf_not_found = AVERROR_BSF_NOT_FOUND;
static const int tandem_patchwelcome = AVERROR_PATCHWELCOME;
static const int tandem_http_not_found = AVERROR_HTTP_NOT_FOUND;
static const int tandem_seek_size = AVSEEK_SIZE;
static const int tandem_seek_force = AVSEEK_FORCE;

static inline int tandem_averror(int e) { return AVERROR(e); }

static inline int64_t tandem_frame_duration(const AVFrame *f) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return f->duration;
#else
    return f->pkt_duration;
#endif
}

static inline void tandem_frame_set_duration(AVFrame *f, int64_t d) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    f->duration = d;
#else
    f->pkt_duration = d;
#endif
}

static inline const enum AVPixelFormat *tandem_codec_pix_fmts(const AVCodec *c) { return c->pix_fmts; }
static inline const enum AVSampleFormat *tandem_codec_sample_fmts(const AVCodec *c) { return c->sample_fmts; }
static inline const int *tandem_codec_sample_rates(const AVCodec *c) { return c->supported_samplerates; }
static inline const AVChannelLayout *tandem_codec_layouts(const AVCodec *c) { return c->ch_layouts; }
static inline const AVRational *tandem_codec_frame_rates(const AVCodec *c) { return c->supported_framerates; }

static inline int tandem_frame_is_key(const AVFrame *f) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (f->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return f->key_frame;
#endif
}

static inline int tandem_frame_is_top_field_first(const AVFrame *f) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (f->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
    return f->top_field_first;
#endif
}

static inline int tandem_frame_is_interlaced(const AVFrame *f) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (f->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return f->interlaced_frame;
#endif
}

// The side data of a stream is part of its codec parameters since FFmpeg 6.1.
#define TANDEM_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100))

static inline int tandem_stream_side_data_count(const AVStream *s) {
#if TANDEM_CODED_SIDE_DATA
    return s->codecpar->nb_coded_side_data;
#else
    return s->nb_side_data;
#endif
}

static inline const AVPacketSideData *tandem_stream_side_data(const AVStream *s, int index) {
#if TANDEM_CODED_SIDE_DATA
    return &s->codecpar->coded_side_data[index];
#else
    return &s->side_data[index];
#endif
}

// Removes side data that was copied with a stream's codec parameters. Required side data is added separately.
static inline void tandem_stream_clear_side_data(AVStream *s) {
#if TANDEM_CODED_SIDE_DATA
    av_packet_side_data_free(&s->codecpar->coded_side_data, &s->codecpar->nb_coded_side_data);
#else
    (void)s;
#endif
}

static inline uint8_t *tandem_stream_new_side_data(AVStream *s, enum AVPacketSideDataType type, size_t size) {
#if TANDEM_CODED_SIDE_DATA
    AVPacketSideData *data = av_packet_side_data_new(&s->codecpar->coded_side_data,
                                                     &s->codecpar->nb_coded_side_data, type, size, 0);
    return data ? data->data : NULL;
#else
    return av_stream_new_side_data(s, type, size);
#endif
}

// Whether the Matroska muxer adds the codec delay to timestamps, as it does since FFmpeg 7. The demuxers of all
// versions subtract the delay.
static inline int tandem_matroska_adds_delay(void) { return LIBAVFORMAT_VERSION_MAJOR >= 61; }

// The buffer of the write callback is const since FFmpeg 7.
typedef int (*tandem_read_fn)(void *opaque, uint8_t *data, int size);
typedef int (*tandem_write_fn)(void *opaque, const uint8_t *data, int size);
typedef int64_t (*tandem_seek_fn)(void *opaque, int64_t offset, int whence);

static inline AVIOContext *tandem_avio_alloc(int size, int writable, void *opaque, tandem_read_fn read,
                                             tandem_write_fn write, tandem_seek_fn seek) {
    unsigned char *buffer = av_malloc(size);
    if (!buffer) return NULL;
    AVIOContext *pb = avio_alloc_context(buffer, size, writable, opaque, read,
#if LIBAVFORMAT_VERSION_MAJOR >= 61
                                         write,
#else
                                         (int (*)(void *, uint8_t *, int))write,
#endif
                                         seek);
    if (!pb) av_free(buffer);
    return pb;
}

static inline void tandem_avio_free(AVIOContext **pb) {
    if (*pb) av_freep(&(*pb)->buffer);
    avio_context_free(pb);
}

// Returns an element of the stream array, which Swift imports as a pointer to optional pointers.
static inline AVStream *tandem_stream(const AVFormatContext *s, unsigned i) {
    return i < s->nb_streams ? s->streams[i] : NULL;
}

// libavfilter functions that are resolved at first use (see FilterLibrary.swift). The list lets the compiler take
// their types from the headers.
#define TANDEM_FILTER_FUNCTIONS(X)                                                                            \
    X(avfilter_version)                                                                                       \
    X(avfilter_get_by_name)                                                                                   \
    X(avfilter_graph_alloc)                                                                                   \
    X(avfilter_graph_free)                                                                                    \
    X(avfilter_graph_alloc_filter)                                                                            \
    X(avfilter_init_dict)                                                                                     \
    X(avfilter_graph_config)                                                                                  \
    X(avfilter_filter_pad_count)                                                                              \
    X(avfilter_pad_get_type)                                                                                  \
    X(avfilter_link)                                                                                          \
    X(av_buffersrc_add_frame_flags)                                                                           \
    X(av_buffersrc_close)                                                                                     \
    X(av_buffersink_get_frame)                                                                                \
    X(av_buffersink_get_format)                                                                               \
    X(av_buffersink_get_w)                                                                                    \
    X(av_buffersink_get_h)                                                                                    \
    X(av_buffersink_get_sample_aspect_ratio)                                                                  \
    X(av_buffersink_get_time_base)

#define TANDEM_FILTER_FIELD(name) __typeof__(&name) name;
typedef struct tandem_filter_functions {
    TANDEM_FILTER_FUNCTIONS(TANDEM_FILTER_FIELD)
} tandem_filter_functions;
#undef TANDEM_FILTER_FIELD

// Resolves all functions of the table in a library (`find` is dlsym). Returns the name of the first missing function,
// or null.
static inline const char *tandem_find_filter_functions(tandem_filter_functions *table, void *library,
                                                       void *(*find)(void *, const char *)) {
#define TANDEM_FIND_FILTER(name)                                                                              \
    if (!(table->name = (__typeof__(&name))find(library, #name))) return #name;
    TANDEM_FILTER_FUNCTIONS(TANDEM_FIND_FILTER)
#undef TANDEM_FIND_FILTER
    return NULL;
}

// Returns the flags of filters with timeline support (`enable`).
static inline int tandem_timeline_flags(void) {
    return AVFILTER_FLAG_SUPPORT_TIMELINE_GENERIC | AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL;
}

static inline int tandem_filter_major(void) { return LIBAVFILTER_VERSION_MAJOR; }

#endif
