package import Diagnostics
package import LibAV
package import Media

/// The plan of tracks in a container.
package struct MediaPlan: Hashable, Sendable {
    /// Whether the index is written at the beginning of the file (fast start).
    package var optimizesForNetwork = false
    /// Duration of the file's fragments; nil for an unfragmented file.
    package var fragmentInterval: MediaTime?
    /// Division into segments; nil unless the output is a rendition of a package.
    package var segmentation: SegmentationPlan?
    /// Tags of the file.
    package var metadata: [MetadataEntry] = []
    /// Keys of the tags that the job sets, in lower case. If one of them is missing in the finished file, the job fails;
    /// a missing tag of the source is only a warning.
    @Annotation package var requestedTags: [String] = []
    /// Whether the file receives the modification time of the source's.
    package var keepsFileTimes = false
    /// Chapters of the file.
    package var chapters: [AssetChapter] = []
    /// Covers to copy, by their track indices in the source.
    package var covers: [Int] = []
    /// Cover from an image file, in place of `covers`; nil for none.
    package var cover: CoverPlan?
    /// Attachments to copy, by their track indices in the source.
    package var attachments: [Int] = []
    /// Maximum size in bytes, at which the file ends; nil without a limit.
    package var sizeLimit: Int64?
    /// Location of the size limit in the job file.
    package var sizeLimitLocation: SourceRange?
}

extension MediaPlan: KindPlan {
    package func isConsistent(with output: OutputPlan) -> Bool {
        guard let cover else { return true }
        return covers.isEmpty && cover.isValid
            && ContainerType.named(output.container)?.supportsCoverImages == true
    }

    /// An output with a size limit may have ended early, so the plan doesn't determine the range that it contains.
    package var isReevaluable: Bool { sizeLimit == nil }

    package var isWrittenBySession: Bool { true }

    package func isCacheable(_ output: OutputPlan) -> Bool {
        output.tracks.contains { $0.encoding != nil } && output.tracks.allSatisfy { $0.cut == nil }
    }

    package func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost {
        output.tracks.reduce(OutputCost()) { $0 + Self.cost(of: $1, in: job) }
    }

    private static func cost(of track: TrackPlan, in job: OutputCost.Job) -> OutputCost {
        let duration = job.duration
        guard case .encode(let encoding) = track.action else { return OutputCost(work: duration / 2000) }
        guard track.source.mediaType == .video else { return OutputCost(work: duration / 60) }
        let encoder = encoding.encoder
        let area = Int64(encoder.width) * Int64(encoder.height)
        let sourceArea = Int64(track.source.width) * Int64(track.source.height)
        let rate = (encoder.frameRate ?? track.source.frameRate).map { Double($0.num) / Double($0.den) } ?? 25
        // One processor for each ninth of a 1080p frame, about the work of one of x264's threads.
        var cores = Int(min(Int64(JobCost.mostProcessors), max(1, area / 230_400)))
        // Memory of the frames in the decoder, the queue and the lookahead, at up to three bytes a pixel.
        var memory = (area * 80 + sourceArea * 24) * 2
        if let chunk = encoder.chunk {
            cores = min(encoding.maxChunks ?? JobCost.mostProcessors, job.processors)
            // The frames of the chunks in progress: on average, half of each chunk waits for its encoder.
            let frame = encoder.pixelFormat.frameSize(width: encoder.width, height: encoder.height)
            memory += Int64(chunk * frame / 2 * cores)
        }
        return OutputCost(
            cores: Double(cores), memory: memory,
            work: duration * rate * Double(area + sourceArea / 4) / 20e6
                * ((encoding.hasTwoPasses ? 1.6 : 1) + (encoding.targetSize == nil ? 0 : 1)
                    + (encoding.targetQuality == nil ? 0 : 0.8)))
    }

    package var changeDescriptions: [PlanPart] {
        metadata.sorted { $0.key < $1.key }.map { PlanPart(.tag($0.key), $0.value) }
            + (cover.map { [PlanPart(.cover, $0.changeDescription)] } ?? [])
    }

    package var title: String { "container" }

    package func summary(of output: OutputPlan) -> String {
        var text = output.container
        if optimizesForNetwork { text += ", index at the start" }
        if let fragmentInterval { text += ", in fragments of \(fragmentInterval) s" }
        return text
    }

    package func linesAfterTracks(of output: OutputPlan) -> [String] {
        guard let cover else { return [] }
        let image = cover.image
        return [
            "  cover      \(cover.path), \(image.formatName) \(image.width)x\(image.height), \(PlanText.bytes(image.size))"
        ]
    }

    package func expectedText(of output: OutputPlan) -> String { PlanText.time(output.expectedDuration) }
}
