internal import FoundationEssentials
internal import Glibc
internal import LibAV

/// Collects the segments that a muxer writes, and passes them on.
///
/// Confined to the writer's queue.
final class SegmentOutput {
    /// Samples of a track in the current segment, in the track's time base.
    private struct Track {
        let mediaType: MediaType
        let timeBase: Rational
        /// Start of the first segment.
        let offset: Int64
        /// Time before the first sample, which is part of decoding times instead of an empty edit.
        var gap: Int64 = 0
        var hasBegun = false
        var count = 0
        var earliest: Int64 = .max
        var first: Int64 = 0
        var duration: Int64 = 0
        /// Presentation time of the last frame so far, and its end.
        var latest: Int64 = .min
        var end: Int64 = .min
        var startsWithKeyframe = false

        mutating func reset() {
            self = Track(
                mediaType: mediaType, timeBase: timeBase, offset: offset, gap: gap, hasBegun: hasBegun)
        }
    }

    let profile: SegmentProfile
    let sink = MemorySink()
    /// Start of the first segment.
    private let start: MediaTime
    private let inputs: [AssetWriterInput]
    /// Receives each segment.
    private let deliver: (Data, AssetSegmentReport) throws -> Void
    private var tracks: [Track] = []
    private var hasHeader = false
    /// Boxes of the tracks' sample entries, which are written into the headers.
    var entryBoxes: [SampleEntryBoxes?] = []

    /// Creates an output whose first segment begins at `start`.
    init(
        profile: SegmentProfile, start: MediaTime, inputs: [AssetWriterInput],
        deliver: @escaping (Data, AssetSegmentReport) throws -> Void
    ) {
        self.profile = profile
        self.start = start
        self.inputs = inputs
        self.deliver = deliver
    }

    /// Sets the tracks, before packets are written.
    func setTracks(_ types: [(mediaType: MediaType, timeBase: Rational)]) {
        tracks = types.map {
            Track(mediaType: $0.mediaType, timeBase: $0.timeBase, offset: start.ticks(in: $0.timeBase))
        }
    }

    /// Moves a packet to the time line of segments without decoding times of their own (`tfdt`).
    func move(_ packet: borrowing Packet, track index: Int) {
        guard !profile.hasInitialization else { return }
        packet.pts += tracks[index].offset
        packet.dts += tracks[index].offset
    }

    /// Records a packet that is passed to the muxer, with times of the output.
    func note(_ packet: borrowing Packet, track index: Int) {
        if tracks[index].count == 0 {
            tracks[index].first = packet.pts
            tracks[index].startsWithKeyframe = packet.isKey
            tracks[index].hasBegun = true
        }
        tracks[index].count += 1
        tracks[index].earliest = min(tracks[index].earliest, packet.pts)
        tracks[index].duration += packet.duration
        // Durations of other reordered frames are differences of decoding times.
        if packet.pts >= tracks[index].latest {
            tracks[index].latest = packet.pts
            tracks[index].end = packet.pts + packet.duration
        }
    }

    /// Whether the muxer can end a segment: every track has a packet, on which the headers depend.
    var canEndSegment: Bool { !profile.hasInitialization || tracks.allSatisfy(\.hasBegun) }

    /// Whether the current segment contains a sample.
    var hasSamples: Bool { tracks.contains { $0.count > 0 } }

    /// Passes the headers on, once the muxer has written them.
    func passHeader() throws {
        guard !hasHeader, sink.count > 0 else { return }
        hasHeader = true
        let portion = sink.take()
        let header = portion.bytes
        func write(_ bytes: [UInt8], at offset: Int64) {
            UnsafeMutableRawBufferPointer(rebasing: header[Int(offset)...]).copyBytes(from: bytes)
        }
        let source = BytesSource(Array(header))
        try MoviePatcher.apply(entryBoxes, to: source, write: write)
        let inBand = inputs.indices.filter { inputs[$0].ending.hasOtherParameterSets }
        try MoviePatcher.markInBandSets(of: inBand, in: source, write: write)
        for (id, gap) in SegmentBoxes.removeEmptyEdits(portion.bytes) where tracks.indices.contains(id - 1) {
            tracks[id - 1].gap = gap
        }
        try pass(portion, .initialization, [])
    }

    /// Writes the box that precedes a media segment.
    func beginSegment() throws {
        try SegmentBoxes.segmentType(profile.brands).withUnsafeBytes { try sink.append($0) }
    }

    /// Passes a media segment in mp4 on, once the muxer has written it.
    func passSegment() throws {
        let portion = sink.take()
        let samples = SegmentBoxes.finish(portion.bytes) { id in
            tracks.indices.contains(id - 1) ? tracks[id - 1].offset + tracks[id - 1].gap : 0
        }
        try pass(portion, .separable, reports(samples))
    }

    /// Passes a segment of a transport stream on, once the muxer has written it.
    func passTransportSegment() throws {
        let portion = sink.take()
        let size = TransportSegment.removeServiceDescription(from: portion.bytes)
        let segment = TransportSegment(UnsafeRawBufferPointer(rebasing: portion.bytes[..<size]))
        // The packet that begins a segment is the first one in it, and video begins the segments of several tracks.
        var samples: [Int: SegmentBoxes.FirstSample] = [:]
        let lead = FragmentScheduler.lead(of: tracks.map(\.mediaType))
        if let unit = segment.firstUnit, unit.isRandomAccess {
            samples[lead + 1] = SegmentBoxes.FirstSample(
                offset: unit.range.lowerBound, length: unit.range.count)
        }
        try pass(portion, .separable, reports(samples), size: size)
    }

    /// Returns the reports of the tracks with samples in the current segment, and begins the next one. `samples` are the
    /// locations of first samples by track id.
    private func reports(_ samples: [Int: SegmentBoxes.FirstSample]) -> [AssetSegmentTrackReport] {
        let reports = tracks.enumerated().compactMap { index, track -> AssetSegmentTrackReport? in
            guard track.count > 0 else { return nil }
            func time(_ ticks: Int64) -> MediaTime {
                MediaTime(ticks: ticks + track.offset, timeBase: track.timeBase)
            }
            return AssetSegmentTrackReport(
                trackID: index + 1, mediaType: track.mediaType,
                earliestPresentationTime: time(track.earliest),
                duration: MediaTime(ticks: track.duration, timeBase: track.timeBase),
                presentationEnd: time(track.end),
                sampleCount: track.count, startsWithKeyframe: track.startsWithKeyframe,
                firstVideoSample: track.mediaType != .video
                    ? nil
                    : samples[index + 1].map {
                        AssetSegmentSample(
                            presentationTime: time(track.first), offset: $0.offset, length: $0.length,
                            isKeyframe: track.startsWithKeyframe)
                    })
        }
        for index in tracks.indices { tracks[index].reset() }
        return reports
    }

    /// Passes what the muxer wrote at the end, if a track without samples prevented it from writing the headers before.
    func passRest() throws {
        guard profile.hasInitialization, sink.count > 0 else { return }
        let portion = sink.take()
        let size = SegmentBoxes.headerSize(of: portion.bytes)
        if !hasHeader {
            try sink.append(UnsafeRawBufferPointer(rebasing: portion.bytes[..<size]))
            try passHeader()
        }
        guard size < portion.bytes.count else { return }
        try beginSegment()
        try sink.append(UnsafeRawBufferPointer(rebasing: portion.bytes[size...]))
        try passSegment()
    }

    /// Passes a portion, or its first `size` bytes.
    private func pass(
        _ portion: consuming MemorySink.Portion, _ type: AssetSegmentType,
        _ reports: [AssetSegmentTrackReport], size: Int? = nil
    ) throws {
        let bytes = portion.release()
        guard let start = bytes.baseAddress else { return }
        let data = Data(bytesNoCopy: start, count: size ?? bytes.count, deallocator: .free)
        try deliver(data, AssetSegmentReport(segmentType: type, trackReports: reports))
    }
}
