import Foundation
import TandemKit
import TestSupport
import Testing

@testable import Media

/// Files that are published when writing starts: what has been recorded survives errors and kills.
@Suite struct RecordingTests {
    static let containers = ["mp4", "mov", "mkv", "webm", "ts"]

    /// Settings of a recorder: small frames with a keyframe each second, and audio.
    private static func inputs(_ container: String) throws -> [AssetWriterInput] {
        var video = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: Rational(1, 25))
        (video.width, video.height, video.pixelFormat) = (160, 120, .yuv420p)
        video.keyframeInterval = 25
        video.options = [
            MetadataEntry(key: "preset", value: "ultrafast"),
            MetadataEntry(key: "tune", value: "zerolatency"),
        ]
        var audio = EncoderConfiguration(encoder: "aac", mediaType: .audio, timeBase: Rational(1, 48_000))
        (audio.sampleRate, audio.sampleFormat, audio.channelLayout) = (48_000, .planarFloat, .mono)
        if container == "webm" {
            video.encoder = "libvpx-vp9"
            video.options = [
                MetadataEntry(key: "deadline", value: "realtime"), MetadataEntry(key: "cpu-used", value: "8"),
                MetadataEntry(key: "lag-in-frames", value: "0"),
            ]
            (audio.encoder, audio.sampleFormat) = ("libopus", .float)
        }
        return [
            AssetWriterInput(mediaType: .video, settings: .encode(video)),
            AssetWriterInput(mediaType: .audio, settings: .encode(audio)),
        ]
    }

    private static func writer(
        _ folder: String, _ container: String, _ interval: MediaTime? = MediaTime(value: 1, timescale: 1)
    ) throws -> AssetWriter {
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: folder + "/o." + container),
            container: try #require(ContainerType.forExtension(container)), publishing: .immediately)
        writer.movieFragmentInterval = interval
        for input in try inputs(container) { try writer.add(input) }
        return writer
    }

    /// Appends frames with numbered brightness, and a tone.
    private static func record(_ writer: AssetWriter, frames: Range<Int>) async throws {
        for number in frames {
            for input in writer.inputs {
                while !input.isReadyForMoreMediaData { try await Task.sleep(for: .milliseconds(1)) }
                if input.mediaType == .video {
                    let buffer = try PixelBuffer(pixelFormat: .yuv420p, width: 160, height: 120)
                    for plane in 0..<3 {
                        try buffer.withMutablePlane(plane) { bytes, _ in
                            for offset in bytes.indices {
                                bytes[offset] = plane == 0 ? UInt8(40 + number % 160) : 128
                            }
                        }
                    }
                    try input.append(
                        SampleBuffer(
                            pixelBuffer: buffer, pts: Int64(number), duration: 1,
                            timeBase: Rational(1, 25)))
                } else {
                    let samples = (0..<1920).map { sin(Float(number * 1920 + $0) * 0.06) * 0.3 }
                    try input.append(
                        SampleBuffer(
                            audio: samples, layout: .mono, sampleRate: 48_000,
                            at: MediaTime(value: Int64(number), timescale: 25)))
                }
            }
        }
    }

    /// Checks what ffmpeg decodes: whole seconds of frames without a gap, whose brightness is that of their numbers.
    private func check(_ path: String, atLeast least: Int, atMost most: Int) throws {
        let file = FFmpegFile(path)
        let errors = try file.decodeErrors()
        #expect(errors == "", "\(path)")
        let times = try file.frames().times
        #expect((least...most).contains(times.count), "\(times.count) frames in \(path)")
        // In a transport stream, the encoder's delay of the audio is first.
        let first = times.first ?? 0
        #expect(first < 0.03 && zip(times, 0...).allSatisfy { abs($0 - first - Double($1) / 25) < 0.002 })
        let samples = try file.samples(channels: 1, rate: 48_000)
        #expect(samples.count >= (least - 3) * 1920, "\(samples.count) samples in \(path)")
        let pixels = try rawFrame(of: URL(fileURLWithPath: path), at: times.count - 1)
        let expected = (Double(40 + (times.count - 1) % 160) - 16) * 255 / 219
        #expect(abs(Double(pixels[0]) - expected) < 6, "\(pixels[0]), \(expected)")
    }

    /// A process that is killed leaves a file that can be played up to its last complete fragment.
    @Test(arguments: containers) func killedRecordingIsPlayable(
        _ container: String
    ) async throws {
        let scratch = try Scratch()
        let folder = scratch.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder as String, container = container as String] in
            let writer = try Self.writer(folder, container)
            try writer.startWriting()
            guard FileManager.default.fileExists(atPath: folder + "/o." + container) else { exit(3) }
            try writer.startSession(atSourceTime: .zero)
            try await Self.record(writer, frames: 0..<145)
            // Packets are written on another thread. Five fragments are on disk when packets of the sixth second are written, and
            // the sixth fragment isn't complete.
            let deadline = ContinuousClock.now + .seconds(60)
            while writer.writtenPackets[0] < 130, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(1))
            }
            kill(getpid(), SIGKILL)
            pause()
        }
        #expect(scratch.contents == ["o." + container])
        // Of 145 frames, 5 s are in complete fragments of 1 s.
        try check(scratch.file("o." + container), atLeast: 125, atMost: 145)
    }

    /// A kill within a write leaves a part of a fragment: the fragments before it can be played nevertheless.
    @Test(arguments: containers) func incompleteFragmentsDoNoHarm(_ container: String) async throws {
        let scratch = try Scratch()
        let writer = try Self.writer(scratch.path, container)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try await Self.record(writer, frames: 0..<110)
        for input in writer.inputs { try input.markAsFinished() }
        try await writer.finishWriting()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("o." + container)))
        var previous = 0
        for part in [4, 6, 8, 9] {
            let file = FFmpegFile(scratch.file("cut." + container))
            try bytes.prefix(bytes.count * part / 10 + 1).write(to: URL(fileURLWithPath: file.path))
            let times = try file.frames().times
            // The last fragment has at most 25 frames, and the others are in the file up to its last byte.
            #expect(times.count >= 110 * part / 10 - 40, "\(times.count) frames in \(part * 10) %")
            #expect(times.count >= previous && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            previous = times.count
        }
    }

    /// A recording that ends normally is complete. Its name exists from the start.
    @Test(arguments: containers + ["m4a"]) func finishedRecordingIsComplete(
        _ container: String
    ) async throws {
        let scratch = try Scratch()
        let path = scratch.file("o." + container)
        let writer = try container == "m4a" ? nil : Self.writer(scratch.path, container, nil)
        if let writer {
            try writer.startWriting()
            #expect(scratch.contents == ["o." + container])
            try writer.startSession(atSourceTime: .zero)
            try await Self.record(writer, frames: 0..<80)
            for input in writer.inputs { try input.markAsFinished() }
            try await writer.finishWriting()
            #expect(writer.status == .completed)
            try check(path, atLeast: 80, atMost: 80)
        } else {
            let writer = try AssetWriter(
                url: URL(fileURLWithPath: path), container: .m4a, publishing: .immediately)
            let input = try Self.inputs(container)[1]
            try writer.add(input)
            try writer.startWriting()
            try writer.startSession(atSourceTime: .zero)
            try input.append(
                SampleBuffer(
                    audio: [Float](repeating: 0.1, count: 480_000), layout: .mono, sampleRate: 48_000,
                    at: .zero))
            try input.markAsFinished()
            try await writer.finishWriting()
            #expect(try FFmpegFile(path).samples(channels: 1, rate: 48_000).count >= 480_000)
        }
    }

    /// A write error after complete fragments keeps them, and nothing else. The limit of the file's size is a disk that is full.
    @Test(arguments: containers) func failedRecordingKeepsItsFragments(
        _ container: String
    ) async throws {
        let scratch = try Scratch()
        let folder = scratch.path
        await #expect(processExitsWith: .success) {
            [folder = folder as String, container = container as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 30_000, rlim_max: 30_000)
            setrlimit(__rlimit_resource_t(1), &limit)
            let writer = try Self.writer(folder, container)
            try writer.startWriting()
            try writer.startSession(atSourceTime: .zero)
            do {
                try await Self.record(writer, frames: 0..<200)
                for input in writer.inputs { try input.markAsFinished() }
            } catch {
                guard writer.status == .failed else { exit(4) }
            }
            do {
                try await writer.finishWriting()
                exit(5)
            } catch {
                exit(writer.status == .failed && "\(error)".contains("too large") ? 0 : 6)
            }
        }
        #expect(scratch.contents == ["o." + container])
        try check(scratch.file("o." + container), atLeast: 25, atMost: 199)
    }

    /// An error before the first complete fragment removes the file.
    @Test func failedRecordingWithoutAFragmentIsRemoved() async throws {
        let scratch = try Scratch()
        let folder = scratch.path
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 2000, rlim_max: 2000)
            setrlimit(__rlimit_resource_t(1), &limit)
            let writer = try Self.writer(folder, "mp4")
            try writer.startWriting()
            try writer.startSession(atSourceTime: .zero)
            do {
                try await Self.record(writer, frames: 0..<200)
                for input in writer.inputs { try input.markAsFinished() }
                try await writer.finishWriting()
            } catch {}
            try? await writer.finishWriting()
            exit(writer.status == .failed ? 0 : 7)
        }
        #expect(scratch.contents.isEmpty)
    }

    /// A cancel removes the file; a failure before the first fragment does too.
    @Test(arguments: containers) func cancelledRecordingIsRemoved(
        _ container: String
    ) async throws {
        let scratch = try Scratch()
        for frames in [0, 3, 60] {
            let writer = try Self.writer(scratch.path, container)
            try writer.startWriting()
            try writer.startSession(atSourceTime: .zero)
            #expect(scratch.contents == ["o." + container])
            try await Self.record(writer, frames: 0..<frames)
            writer.cancelWriting()
            #expect(scratch.contents.isEmpty)
            await #expect(throws: (any Error).self) { try await writer.finishWriting() }
        }
    }

    /// An existing file is never replaced, whenever it was created.
    @Test func existingFileIsKept() async throws {
        let scratch = try Scratch()
        try scratch.write("mine", to: "o.mp4")
        #expect(throws: (any Error).self) { try Self.writer(scratch.path, "mp4") }
        try FileManager.default.removeItem(atPath: scratch.file("o.mp4"))
        let writer = try Self.writer(scratch.path, "mp4")
        try scratch.write("mine", to: "o.mp4")
        #expect(throws: (any Error).self) { try writer.startWriting() }
        #expect(writer.status == .failed)
        writer.cancelWriting()
        #expect(scratch.contents == ["o.mp4"])
        #expect(try String(contentsOfFile: scratch.file("o.mp4"), encoding: .utf8) == "mine")
    }

    /// Containers that can't be played unfinished are refused by name.
    @Test func otherContainersAreRefused() throws {
        let scratch = try Scratch()
        for container in ContainerType.all where !container.isPlayableUnfinished {
            do {
                _ = try AssetWriter(
                    url: URL(fileURLWithPath: scratch.file("o")), container: container,
                    publishing: .immediately)
                Issue.record("\(container.name) was accepted")
            } catch MediaError.unplayableUnfinished(let name) {
                #expect(name == container.name)
            }
        }
        #expect(
            ContainerType.all.filter(\.isPlayableUnfinished).map(\.name).sorted() == [
                "m4a", "mkv", "mov", "mp4", "ts", "webm",
            ])
        #expect(scratch.contents.isEmpty)
    }
}
