internal import LibAV

/// Encoder delay and padding as iTunes and other AAC encoders write them into a tag (`iTunSMPB`), in files that have no edit list.
///
/// The tag's hexadecimal fields are a zero, the samples to skip at the start, those to skip at the end, and how many
/// remain. Apple's encoders count HE-AAC in samples of its core, others in samples of the doubled output rate, and a track's time base is either
/// of the two. The length of the media decides which unit the tag has, and whether it belongs to the media at all: editors copy
/// tags into files that they have cut.
struct GaplessTag: Equatable {
    static let key = "iTunSMPB"

    let delay: Int64
    let padding: Int64
    let samples: Int64

    /// Parses the tag's value; nil where it is malformed or a field is out of bounds.
    init?(_ text: String) {
        let fields = text.split(whereSeparator: \.isWhitespace).prefix(4).map { Int64($0, radix: 16) }
        guard fields.count == 4, let delay = fields[1], let padding = fields[2], let samples = fields[3],
            (0..<65_536).contains(delay), (0..<65_536).contains(padding), (1..<(1 << 48)).contains(samples)
        else { return nil }
        (self.delay, self.padding, self.samples) = (delay, padding, samples)
    }

    /// The part of a track's media that is presented, in ticks of the track; nil where the tag doesn't fit media of that length, whose
    /// packets have `frame` ticks each.
    func presented(ofMedia length: Int64, frame: Int64) -> Range<Int64>? {
        for (factor, divisor) in [(Int64(1), Int64(1)), (1, 2), (2, 1)] {
            func ticks(_ samples: Int64) -> Int64 { samples * factor / divisor }
            let (start, end, total) = (ticks(delay), ticks(delay + samples), ticks(delay + padding + samples))
            if start < end, end <= length, abs(total - length) <= frame { return start..<end }
        }
        return nil
    }
}

/// What of a movie's AAC track is presented, by an `iTunSMPB` tag instead of an edit list. libavformat 5.1 applies the start alone, without
/// moving times, and of a tag that doesn't fit the media too: `Demuxer.origins` replaces that.
struct GaplessTrim {
    /// In ticks of the track; nil where the tag doesn't fit the media, all of which is presented.
    let presented: Range<Int64>?
    var origin: Int64 { presented?.lowerBound ?? 0 }

    /// Nil where there is no such tag, or an edit list, which has precedence. A track beside others keeps its offset to them.
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

    /// Puts the times of the presentation in the place of those of the media.
    func apply(to stream: inout StreamInfo) {
        stream.startTime = stream.firstIndexedTime.map { $0 - origin }
        stream.lastIndexedTime = stream.lastIndexedTime.map { $0 - origin }
    }

    /// The same as an edit.
    func edit(timeBase: Rational) -> TrackEdit? {
        presented.map {
            TrackEdit(
                mediaStart: MediaTime(ticks: $0.lowerBound, timeBase: timeBase),
                duration: MediaTime(ticks: Int64($0.count), timeBase: timeBase))
        }
    }
}
