internal import JobSpec
internal import LibAV
internal import Media

/// The estimated resources of a running job, by which the scheduler allocates processors and memory. The estimates
/// aren't limits.
package struct JobCost: Hashable, Sendable {
    /// Number of processors that the job can keep busy.
    package var cores: Double
    /// Memory in bytes.
    package var memory: Int64
    /// Estimated processor time in seconds.
    package var work: Double

    package init(_ plan: JobPlan) {
        var (cores, memory, work) = (1.0, Int64(48) << 20, 0.02)
        var processors = 0.0
        let seconds = max(0, plan.expectedDuration.seconds)
        for output in plan.outputs {
            switch output.kind {
            case .media, .package: continue
            case .check:
                for track in output.tracks {
                    let cost = Self.reading(track)
                    work += cost.work
                    memory += cost.memory
                    processors += cost.processors
                }
            case .images(let images):
                guard let (area, sourceArea, _) = Self.areas(of: output) else { continue }
                // Images are found by seeking, and a few frames are decoded for each.
                work += Double(images.stills.count) * 0.05
                let cells = Int64(images.sheet.map { $0.columns * $0.rows } ?? 1)
                memory += area * cells * 12 + sourceArea * 24
            case .waveform(let waveform):
                guard let (area, sourceArea, seconds) = Self.areas(of: output) else { continue }
                // A waveform decodes the whole track.
                work += seconds / 200
                memory += area * 12 + sourceArea * 24
                memory += Int64(waveform.size.width) * Int64(waveform.size.height) * 8
            }
        }
        for track in plan.expanded.outputs.filter(\.isMedia).flatMap(\.tracks) {
            guard case .encode(let encoding) = track.action else {
                work += seconds / 2000
                continue
            }
            guard track.source.mediaType == .video else {
                work += seconds / 60
                continue
            }
            let encoder = encoding.encoder
            let area = Int64(encoder.width) * Int64(encoder.height)
            let sourceArea = Int64(track.source.width) * Int64(track.source.height)
            // One processor for each ninth of a 1080p frame, about the work of one of x264's threads.
            processors += Double(min(16, max(1, area / 230_400)))
            // Memory of the frames in the decoder, the queue and the lookahead, at up to three bytes a pixel.
            memory += (area * 80 + sourceArea * 24) * 2
            let rate =
                (encoder.frameRate ?? track.source.frameRate).map { Double($0.num) / Double($0.den) } ?? 25
            work += seconds * rate * Double(area + sourceArea / 4) / 20e6 * (encoding.hasTwoPasses ? 1.6 : 1)
        }
        cores = max(cores, min(16, processors))
        self.cores = plan.scheduling.threads.map(Double.init) ?? cores
        self.memory = memory
        self.work = work
    }

    /// Returns the pixels of a frame of the only track of an image output or waveform, encoded and in the source, and the
    /// seconds that are read.
    private static func areas(of output: OutputPlan) -> (encoded: Int64, source: Int64, seconds: Double)? {
        guard let track = output.tracks.first, case .encode(let encoding) = track.action else { return nil }
        return (
            Int64(encoding.encoder.width) * Int64(encoding.encoder.height),
            Int64(track.source.width) * Int64(track.source.height), track.expected.timeRange.duration.seconds
        )
    }

    /// Estimates the cost of reading a track of a check.
    private static func reading(_ track: TrackPlan) -> (work: Double, memory: Int64, processors: Double) {
        let seconds = max(0, track.expected.timeRange.duration.seconds)
        guard case .read(decodes: true) = track.action else { return (seconds / 2000, 0, 0) }
        guard track.source.mediaType == .video else { return (seconds / 200, 0, 0) }
        let area = Int64(track.source.width) * Int64(track.source.height)
        let rate = track.source.frameRate.map { Double($0.num) / Double($0.den) } ?? 25
        // A decoder needs about a fifth of the time of an encoder with fast settings.
        return (
            seconds * rate * Double(area) / 100e6, area * 48, Double(min(8, max(1, area / 921_600)))
        )
    }
}
