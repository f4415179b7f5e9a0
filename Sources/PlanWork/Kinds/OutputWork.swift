internal import Diagnostics
internal import FileSystem
internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing
internal import Streaming

/// The work of an output that no session writes: of images, a waveform or chunks, which writes a file, or of a check, which
/// creates no file.
protocol OutputWork: Sendable {
    /// Creates and verifies the file, or checks the source. Blocks the caller. Cancelling the job's `Cancellation`
    /// makes it throw `CancellationError`.
    func run() throws -> OutputFindings
    /// Completed fraction, from 0 to 1.
    var fraction: Double { get }
}

/// The input of an output of images, a waveform or chunks: the opened track, and the file to write.
struct OutputSource: Sendable {
    let task: OutputTask
    let asset: Asset
    let track: AssetTrack
    let planned: TrackPlan
    let encoding: TrackPlan.Encoding
    let file: TemporaryFile
    let limits: InputLimits
    let cancellation: Cancellation
}

extension SessionBuilder {
    /// Creates the work of an output that is a task of its own. `files` are the files of all outputs of the plan.
    func work(
        _ index: Int, files: [TemporaryFile], cancellation: Cancellation
    ) throws -> any OutputWork {
        switch plan.outputs[index].kind {
        case .media, .package: throw MediaError.internalError("a session writes the output")
        case .images(let images):
            return ImagesWork(try source(index, file: files[index], cancellation), images: images)
        case .waveform(let waveform):
            return WaveformWork(try source(index, file: files[index], cancellation), waveform: waveform)
        case .chunks(let chunks):
            return try ChunksWork(try source(index, file: files[index], cancellation), chunks: chunks, self)
        case .check: return try check(index, cancellation: cancellation)
        }
    }

    /// Opens the only track of an output of images, a waveform or chunks.
    private func source(
        _ index: Int, file: TemporaryFile, _ cancellation: Cancellation
    ) throws -> OutputSource {
        guard let planned = plan.outputs[index].tracks.first, case .encode(let encoding) = planned.action
        else { throw MediaError.internalError("the output has no encoded track") }
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        try checkRemote(contents)
        return OutputSource(
            task: plan.tasks[index], asset: asset, track: try Self.track(of: planned, in: contents),
            planned: planned, encoding: encoding, file: file, limits: environment.sources.limits,
            cancellation: cancellation)
    }
}

/// The files or the folder that are published for an output.
struct PublishedItems {
    /// The files or the folder, each with its publisher.
    var items: [(publisher: OutputPublisher, item: any PublishableItem)]
    /// The part of the output's result that depends on its kind.
    var detail = OutputResult.Detail.plain
}

extension OutputPublisher {
    /// Returns what is published: the written file, the files that it is split into, or the folder of a package, for which
    /// `reused` renditions are taken from the folder at the destination.
    func items(
        of written: [WrittenFile], reusing reused: [String: StreamingRendition], in root: PathRoot
    ) throws -> PublishedItems {
        switch output.kind {
        case .media, .waveform, .check, .chunks:
            return PublishedItems(items: try splitFiles(of: written, in: root))
        case .images(let images):
            return PublishedItems(
                items: try splitFiles(of: written, in: root), detail: .images(images.results(of: written)))
        case .package(let package):
            let assembler = PackageAssembler(
                package: package, location: output.location, destination: destination, root: root)
            let (folder, renditions, summary) = try assembler.assemble(written, reusing: reused)
            var publisher = self
            publisher.renditions = renditions
            return PublishedItems(items: [(publisher, folder)], detail: .package(summary))
        }
    }
}
