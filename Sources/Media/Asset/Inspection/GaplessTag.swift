internal import LibAV

/// Encoder delay and padding in the `iTunSMPB` tag that iTunes and other AAC encoders write into files without an
/// edit list.
///
/// The tag's hexadecimal fields are a zero, the samples to skip at the start, those to skip at the end, and the number
/// of remaining samples. For HE-AAC, Apple's encoders count samples of the core, others samples of the doubled output
/// rate, and a track's time base is either of the two. The length of the media decides which unit applies, and whether
/// the tag belongs to the media: editors copy tags into files that they have cut.
struct GaplessTag: Equatable {
    static let key = "iTunSMPB"

    let delay: Int64
    let padding: Int64
    let samples: Int64

    /// Parses the tag's value; nil if it is malformed or a number is out of bounds.
    init?(_ text: String) {
        let fields = text.split(whereSeparator: \.isWhitespace).prefix(4).map { Int64($0, radix: 16) }
        guard fields.count == 4, let delay = fields[1], let padding = fields[2], let samples = fields[3],
            (0..<65_536).contains(delay), (0..<65_536).contains(padding), (1..<(1 << 48)).contains(samples)
        else { return nil }
        (self.delay, self.padding, self.samples) = (delay, padding, samples)
    }

    /// Returns the presented part of a track's media, in ticks of the track; nil if the tag doesn't match media of
    /// this length, with packets of `frame` ticks each.
    func presented(ofMedia length: Int64, frame: Int64) -> Range<Int64>? {
        for (factor, divisor) in [(Int64(1), Int64(1)), (1, 2), (2, 1)] {
            func ticks(_ samples: Int64) -> Int64 { samples * factor / divisor }
            let (start, end, total) = (ticks(delay), ticks(delay + samples), ticks(delay + padding + samples))
            if start < end, end <= length, abs(total - length) <= frame { return start..<end }
        }
        return nil
    }
}

/// The presented part of a movie's AAC track according to an `iTunSMPB` tag, in a file without an edit list.
/// libavformat 5.1 applies only the start, without shifting times, and even if the tag doesn't match the media;
/// `Demuxer.origins` overrides it.
struct GaplessTrim {
    /// The presented range of the media, in ticks of the track; nil if the tag doesn't match the media, which is then
    /// presented entirely.
    let presented: Range<Int64>?
    var origin: Int64 { presented?.lowerBound ?? 0 }

    /// Returns nil if the track has no such tag or has an edit list, which takes precedence, and if the file has other
    /// tracks, to which the track keeps its offset.
    init?(
        of stream: StreamInfo, among streams: [StreamInfo], metadata: [MetadataEntry], movie: MovieInspector
    ) {
        let parameters = stream.parameters
        let others = streams.filter {
            $0.index != stream.index && !$0.isAttachedPicture
                && ($0.parameters.mediaType == .video || $0.parameters.mediaType == .audio)
        }
        guard parameters.mediaType == .audio, parameters.traits.mayDoubleRate, others.isEmpty,
            let boxes = movie.tracks.first(where: { Int($0.id) == stream.id }), boxes.edits.isEmpty,
            let value = (metadata + stream.metadata).first(where: { $0.key == GaplessTag.key })?.value
        else { return nil }
        guard let tag = GaplessTag(value), let last = stream.lastIndexedTime, stream.firstIndexedTime == 0,
            !movie.isFragmented, parameters.sampleRate > 0, parameters.frameSize > 0
        else {
            presented = nil
            return
        }
        let frame = Rational(1, parameters.sampleRate).rescale(
            Int64(parameters.frameSize), to: stream.timeBase)
        presented = tag.presented(ofMedia: last.adding(upToLimit: frame), frame: frame)
    }

    /// Changes the stream's times from media times to presentation times.
    func apply(to stream: inout StreamInfo) {
        stream.startTime = stream.firstIndexedTime.map { $0 - origin }
        stream.lastIndexedTime = stream.lastIndexedTime.map { $0 - origin }
    }

    /// Returns the trim as an edit.
    func edit(timeBase: Rational) -> TrackEdit? {
        presented.map {
            TrackEdit(
                mediaStart: MediaTime(ticks: $0.lowerBound, timeBase: timeBase),
                duration: MediaTime(ticks: Int64($0.count), timeBase: timeBase))
        }
    }
}
