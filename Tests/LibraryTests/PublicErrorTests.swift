import Foundation
import TandemBatch
import TandemKit
import TestSupport
import Testing

/// Errors of the public calls: their type, their kind, and their message.
@Suite struct PublicErrorTests {
    /// Requires an error to be one of the library's, and its message to be that of `localizedDescription`.
    static func check(_ error: any Error, _ call: String) {
        if error is CancellationError { return }
        guard let known = error as? any TandemError else {
            Issue.record("\(call) threw \(type(of: error)): \(error)")
            return
        }
        let message = "\(error)"
        #expect(error.localizedDescription == message, "\(call)")
        #expect(known.errorDescription == message, "\(call)")
        #expect(!message.isEmpty && !message.contains("\n"), "\(call): \(message)")
    }

    /// Files that a call fails with.
    struct Inputs: Sendable {
        let scratch: Scratch
        let movie: Asset
        let track: AssetTrack

        init() async throws {
            scratch = try Scratch()
            try scratch.write("", to: "empty.mp4")
            try scratch.write("no media at all, only text\n", to: "text.mp4")
            try scratch.write("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\nx.ts\n", to: "list.m3u8")
            try FileManager.default.createDirectory(
                atPath: scratch.file("folder.mp4"), withIntermediateDirectories: true)
            let pattern = TestPattern(
                name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
                duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
            let url = URL(fileURLWithPath: scratch.file("good.mp4"))
            try await ExportSession(
                asset: Asset(.pattern(pattern), environment: MediaEnvironment()), preset: .low
            ).export(to: url)
            let bytes = try Data(contentsOf: url)
            // The index is at the end of the file.
            try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: scratch.file("half.mp4")))
            movie = Asset(url: url)
            track = try #require(try await movie.load(.tracks).first)
        }

        func url(_ name: String) -> URL {
            name.hasPrefix("http") ? URL(string: name) ?? url("x") : URL(fileURLWithPath: scratch.file(name))
        }
        func asset(_ name: String) -> Asset { Asset(url: url(name)) }
    }

    private static let sources: [(name: String, kind: ErrorKind)] = [
        ("missing.mp4", .notFound), ("missing/x.mp4", .notFound), ("folder.mp4", .notReadable),
        ("empty.mp4", .damagedData), ("text.mp4", .unsupportedFormat), ("list.m3u8", .unsupportedFormat),
        ("half.mp4", .damagedData), ("https://localhost:1/x.mp4", .networkNotAllowed),
    ]

    /// Every call that reads a source reports the same kind for the same source.
    @Test func sourcesHaveTheSameKindInAllCalls() async throws {
        let inputs = try await Inputs()
        let time = MediaTime.zero
        let output = inputs.url("o.mp4")
        let calls: [(String, (String) async throws -> Void)] = [
            ("load", { _ = try await inputs.asset($0).load(.tracks) }),
            ("precise", { _ = try await Asset(url: inputs.url($0), timing: .precise).load(.duration) }),
            ("loadSynchronously", { _ = try inputs.asset($0).loadSynchronously() }),
            ("reader", { _ = try AssetReader(asset: inputs.asset($0)) }),
            ("image", { _ = try await AssetImageGenerator(asset: inputs.asset($0)).image(at: time) }),
            ("images", { try AssetImageGenerator(asset: inputs.asset($0)).images(at: [time]) { _ in } }),
            (
                "waveform",
                {
                    let reader = WaveformReader(asset: inputs.asset($0))
                    _ = try await reader.waveform(WaveformReader.Settings(samplesPerPixel: 100))
                }
            ),
            ("export", { try await ExportSession(asset: inputs.asset($0), preset: .low).export(to: output) }),
            ("estimate", { _ = try await ExportSession(asset: inputs.asset($0), preset: .low).estimate() }),
            (
                "assistant",
                { _ = try await OutputSettingsAssistant(preset: .medium, asset: inputs.asset($0)) }
            ),
        ]
        for (name, kind) in Self.sources {
            for (call, body) in calls {
                do {
                    try await body(name)
                    Issue.record("\(call) accepts \(name)")
                } catch {
                    Self.check(error, "\(call) of \(name)")
                    #expect(ErrorKind(error) == kind, "\(call) of \(name): \(error)")
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    private static func encoder(_ name: String) -> EncoderConfiguration {
        var settings = EncoderConfiguration(encoder: name, mediaType: .video, timeBase: Rational(1, 25))
        (settings.width, settings.height, settings.pixelFormat) = (64, 48, .yuv420p)
        return settings
    }

    /// Calls that fail.
    enum FailingCall: String, CaseIterable {
        case writerOnAFile, writerWithoutFolder, exportOnAFile, exportWithoutFolder,
            exportToAnUnknownContainer, exportThatIsTooLarge, exportLargerThanTheDisk,
            exportOfARangePastTheEnd, missingEncoder,
            secondStart, imageOnAFile, imageOfAnUnknownFormat, imageQuality, bufferSize, waveformResolution,
            jobFile, cancelledGenerator, cancelledExport, missingTrack

        var kind: ErrorKind {
            switch self {
            case .writerOnAFile, .exportOnAFile, .imageOnAFile: .destinationExists
            case .writerWithoutFolder, .exportWithoutFolder: .destinationNotWritable
            case .exportToAnUnknownContainer, .imageOfAnUnknownFormat: .unsupportedFormat
            case .exportThatIsTooLarge: .sizeLimitExceeded
            case .exportOfARangePastTheEnd, .imageQuality: .invalidSettings
            case .missingEncoder: .encoderNotAvailable
            case .exportLargerThanTheDisk: .diskFull
            case .secondStart: .misuse
            case .bufferSize, .waveformResolution: .invalidArgument
            case .jobFile: .invalidJobFile
            case .cancelledGenerator, .cancelledExport: .cancelled
            case .missingTrack: .noSuchTrack
            }
        }
    }

    private func perform(_ call: FailingCall, _ inputs: Inputs) async throws {
        switch call {
        case .writerOnAFile:
            _ = try AssetWriter(url: inputs.url("good.mp4"), container: .mp4)
        case .writerWithoutFolder:
            _ = try AssetWriter(url: inputs.url("none/o.mp4"), container: .mp4)
        case .exportOnAFile:
            try await ExportSession(asset: inputs.movie, preset: .low).export(to: inputs.url("good.mp4"))
        case .exportWithoutFolder:
            try await ExportSession(asset: inputs.movie, preset: .low).export(to: inputs.url("none/o.mp4"))
        case .exportToAnUnknownContainer:
            try await ExportSession(asset: inputs.movie, preset: .low).export(to: inputs.url("o.xyz"))
        case .exportThatIsTooLarge:
            let session = ExportSession(asset: inputs.movie, preset: .low)
            session.fileLengthLimit = 1000
            try await session.export(to: inputs.url("o.mp4"))
        case .exportLargerThanTheDisk:
            let pattern = TestPattern(
                name: "testsrc", width: 3840, height: 2160, frameRate: Rational(25, 1),
                duration: MediaTime(value: 30_000_000, timescale: 1), toneFrequency: nil)
            let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
            try await ExportSession(asset: asset, preset: .proRes422).export(to: inputs.url("o.mov"))
        case .exportOfARangePastTheEnd:
            let session = ExportSession(asset: inputs.movie, preset: .low)
            session.timeRange = TimeRange(start: MediaTime(seconds: 9), duration: MediaTime(seconds: 1))
            try await session.export(to: inputs.url("o.mp4"))
        case .missingEncoder:
            let writer = try AssetWriter(url: inputs.url("o.mp4"), container: .mp4)
            try writer.add(AssetWriterInput(mediaType: .video, settings: .encode(Self.encoder("no-encoder"))))
            try writer.startWriting()
        case .secondStart:
            let reader = try AssetReader(asset: inputs.movie)
            try reader.add(AssetReaderTrackOutput(track: inputs.track))
            try reader.startReading()
            try reader.startReading()
        case .imageOnAFile:
            let still = try await AssetImageGenerator(asset: inputs.movie).image(at: .zero)
            try inputs.scratch.write("x", to: "x.png")
            try still.image.write(to: inputs.url("x.png"))
        case .imageOfAnUnknownFormat:
            let still = try await AssetImageGenerator(asset: inputs.movie).image(at: .zero)
            try still.image.write(to: inputs.url("x.xyz"))
        case .imageQuality:
            let still = try await AssetImageGenerator(asset: inputs.movie).image(at: .zero)
            try still.image.write(to: inputs.url("y.jpg"), quality: 101)
        case .bufferSize:
            _ = try PixelBuffer(pixelFormat: .rgb24, width: 0, height: 1)
        case .waveformResolution:
            _ = try await WaveformReader(asset: inputs.movie).waveform(.init(samplesPerPixel: 0))
        case .jobFile:
            _ = try JobBatch(contentsOf: [URL(fileURLWithPath: inputs.scratch.write("jobs: 3", to: "j.yaml"))]
            )
        case .cancelledGenerator:
            let generator = AssetImageGenerator(asset: inputs.movie)
            generator.cancel()
            _ = try await generator.image(at: .zero)
        case .cancelledExport:
            let session = ExportSession(asset: inputs.movie, preset: .low)
            session.cancelExport()
            try await session.export(to: inputs.url("o.mp4"))
        case .missingTrack:
            let pattern = TestPattern(
                name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
                duration: MediaTime(value: 1, timescale: 1), toneFrequency: nil)
            let asset = Asset(.pattern(pattern), environment: MediaEnvironment())
            _ = try await WaveformReader(asset: asset).waveform(.init(samplesPerPixel: 9))
        }
    }

    /// Every kind of failure has its kind and a message, and leaves no file.
    @Test(arguments: FailingCall.allCases)
    func failuresHaveTheirKind(_ call: FailingCall) async throws {
        let inputs = try await Inputs()
        do {
            try await perform(call, inputs)
            Issue.record("\(call) succeeded")
        } catch {
            Self.check(error, "\(call)")
            #expect(ErrorKind(error) == call.kind, "\(call): \(error)")
        }
        #expect(!inputs.scratch.contents.contains { $0.hasPrefix("o.") || $0.hasPrefix("none") }, "\(call)")
    }

    /// The kinds of a full disk and of other system errors in a writer, and a remedy for those that have one.
    @Test func systemErrorsHaveTheirKind() {
        func kind(_ code: Int32) -> ErrorKind {
            MediaError.writing(AVError(code: -code, operation: "pwrite")).kind
        }
        #expect(kind(ENOSPC) == .diskFull)
        #expect(kind(ENOMEM) == .outOfMemory)
        #expect(kind(EACCES) == .destinationNotWritable)
        #expect(MediaError.writing(AVError(code: -ENOSPC, operation: "x")).recoverySuggestion != nil)
        #expect(MediaError.misuse("x").recoverySuggestion == nil)
        #expect(MediaError.clip(source: "a", .sourceChanged("b")).kind == .sourceChanged)
        #expect(MediaError.limitExceeded("x").kind == .limitExceeded)
        #expect(MediaError.internalError("x").kind == .failed)
        #expect(MediaError.clip(source: "a", .stalled("b")).kind == .stalled)
        #expect(Set(ErrorKind.allCases.map(\.rawValue)).count == ErrorKind.allCases.count)
    }
}
