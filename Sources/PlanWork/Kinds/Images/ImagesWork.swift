internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The work of an image output: writes all images into one file, in sequence.
final class ImagesWork: OutputWork, Sendable {
    private let source: OutputSource
    private let images: ImagesPlan
    private let done = Guarded(0)

    init(_ source: OutputSource, images: ImagesPlan) {
        self.source = source
        self.images = images
    }

    var fraction: Double {
        let passes = images.animation?.needsAnalysis == true ? 2 : 1
        return Double(done.withLock { $0 }) / Double(max(1, images.stills.count * passes))
    }

    func run() throws -> OutputFindings {
        let generator = generator
        try source.cancellation.begin { generator.cancel() }
        let writer = PartWriter(source.file)
        var findings = OutputFindings()
        if let format = images.animation {
            findings.imageTimes = try makeAnimation(format, generator, writer)
        } else if let sheet = images.sheet {
            findings.imageTimes = try makeSheet(sheet, generator, writer)
        } else {
            findings.imageTimes = try makeFiles(generator, writer)
        }
        findings.parts = writer.parts
        // The images don't reveal the end of the track, so its expected end is reported.
        findings.tracks = [
            TrackReport(
                samples: images.stills.count, end: source.planned.expected.timeRange.end,
                damage: generator.damage)
        ]
        return findings
    }

    private var generator: AssetImageGenerator {
        AssetImageGenerator(
            asset: source.asset, track: source.track,
            settings: source.encoding.video ?? VideoOutputSettings(),
            tolerance: images.tolerance, damagePolicy: source.task.input.damagePolicy)
    }

    private func makeFiles(_ generator: AssetImageGenerator, _ writer: PartWriter) throws -> [MediaTime] {
        let encoder = try StillImageEncoder(source.encoding.encoder, limits: source.limits)
        let pipeline = ImagePipeline(encoder: encoder, writer: writer)
        let times = try times(of: generator) { still in
            if still.isRepeated {
                try pipeline.repeatLast()
            } else {
                try pipeline.add(still.image.makeFrame())
            }
        }
        try pipeline.finish()
        return times
    }

    private func makeSheet(
        _ sheet: ImagesPlan.Sheet, _ generator: AssetImageGenerator, _ writer: PartWriter
    ) throws -> [MediaTime] {
        let composed = StillImageSheet(columns: sheet.columns, rows: sheet.rows)
        let times = try times(of: generator) { try composed.add($0.image.makeFrame()) }
        let imageConfiguration = source.encoding.encoder
        var sheetConfiguration = imageConfiguration
        sheetConfiguration.width *= sheet.columns
        sheetConfiguration.height *= sheet.rows
        try writer.append(
            composed.finish(), with: StillImageEncoder(sheetConfiguration, limits: source.limits))
        if sheet.index != nil {
            let index = SheetIndex(
                images: images, sheet: sheet, file: source.task.output.destination ?? "",
                width: imageConfiguration.width,
                height: imageConfiguration.height)
            try writer.append(Array(index.text.utf8))
        }
        return times
    }

    private func makeAnimation(
        _ format: AnimationFormat, _ generator: AssetImageGenerator, _ writer: PartWriter
    ) throws -> [MediaTime] {
        let (timing, encoder, cancellation) = (
            images.timing(as: format), source.encoding.encoder, source.cancellation
        )
        let animation = try format.writer(encoder, timing, into: source.file)
        if format.needsAnalysis {
            // Damage is counted in the second pass only.
            let firstPassGenerator = self.generator
            try cancellation.begin { firstPassGenerator.cancel() }
            _ = try times(of: firstPassGenerator) { try animation.analyze($0.image.makeFrame()) }
            try cancellation.begin { generator.cancel() }
        }
        let times = try times(of: generator) { try animation.add($0.image.makeFrame()) }
        try animation.finish()
        try writer.adoptFile {
            try AnimationCheck(
                encoder, in: source.asset.environment.sources, isCancelled: { cancellation.isCancelled }
            ).problem(inFile: source.file.reopenPath, format: format, timing: timing)
        }
        return times
    }

    /// Calls `body` with each still image. Returns the presentation times of the decoded frames.
    private func times(
        of generator: AssetImageGenerator, _ body: (StillImage) throws -> Void
    ) throws -> [MediaTime] {
        var times: [MediaTime] = []
        try generator.images(at: images.stills.map(\.sourceTime)) { still in
            try body(still)
            times.append(still.actualTime)
            done.withLock { $0 += 1 }
        }
        return times
    }
}
