import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Lost Ogg pages and concatenated audio files are reported.
@Suite struct JoinedFileTests {
    private func tone(_ name: String, _ frequency: Int, _ codec: String, in scratch: Scratch) throws -> Data {
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=f=\(frequency):d=6", "-c:a", codec, scratch.file(name))
        return try Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))
    }

    private func job(_ source: String, _ action: String, policy: String, to target: String) -> String {
        """
        version: 1
        jobs:
          j:
            asset: ./\(source)
            on_damage: \(policy)
            tracks: [ { audio: first, \(action) } ]
            destination: \(target)
        """
    }

    private func failure(_ outcomes: [JobRecord]) -> String {
        if case .failed(let failure) = outcomes[0].outcome { failure.message } else { "" }
    }

    /// Returns the offsets of the pages of an Ogg file.
    private func pages(of data: Data) -> [Int] {
        var found: [Int] = []
        var start = data.startIndex
        while let range = data.range(of: Data("OggS".utf8), in: start..<data.endIndex) {
            found.append(range.lowerBound)
            start = range.upperBound
        }
        return found
    }

    @Test(arguments: ["libvorbis", "libopus", "flac"], [true, false])
    func lostPageIsReported(_ codec: String, _ isRemoved: Bool) async throws {
        let scratch = try Scratch()
        var data = try tone("s.ogg", 440, codec, in: scratch)
        let pages = pages(of: data)
        let middle = pages.count / 2
        if isRemoved {
            data.removeSubrange(pages[middle]..<pages[middle + 1])
        } else {
            data[(pages[middle] + pages[middle + 1]) / 2] ^= 0xff
        }
        try data.write(to: URL(fileURLWithPath: scratch.file("lost.ogg")))
        for (name, action) in [("e.wav", "encode: { codec: pcm_s16le }"), ("c.mka", "copy: true")] {
            let message = failure(
                try await run(job("lost.ogg", action, policy: "fail", to: name), in: scratch.path))
            #expect(message.contains("pages of the Ogg stream are lost or damaged"), "\(name): \(message)")
            #expect(!scratch.contents.contains(name))
        }
        let action = "encode: { codec: pcm_s16le }"
        let result = try success(
            try await run(job("lost.ogg", action, policy: "skip", to: "s.wav"), in: scratch.path))
        let report = try #require(result.outputs.first?.tracks.first)
        #expect(report.damage.skipped > 0 && report.damage.first != nil)
        #expect(!result.outputs[0].warnings.isEmpty)
        // Audio after the loss keeps its time.
        #expect(abs(result.outputs[0].duration.seconds - 6) < 0.03)
    }

    /// A gap that was encoded isn't reported as a lost page.
    @Test(arguments: ["libvorbis", "libopus"]) func encodedPauseIsNotReported(_ codec: String) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=6", "-af", "aselect='lt(t,2)+gte(t,3.5)'", "-c:a", codec,
            scratch.file("s.ogg"))
        _ = try success(
            try await run(
                job("s.ogg", "encode: { codec: pcm_s16le }", policy: "fail", to: "o.wav"), in: scratch.path))
    }

    @Test(arguments: ["libvorbis", "libopus"]) func chainedOggIsReportedAsJoined(_ codec: String) async throws
    {
        let scratch = try Scratch()
        let data = try tone("a.ogg", 440, codec, in: scratch) + tone("b.ogg", 880, codec, in: scratch)
        try data.write(to: URL(fileURLWithPath: scratch.file("joined.ogg")))
        for (name, action) in [("e.wav", "encode: { codec: pcm_s16le }"), ("c.mka", "copy: true")] {
            let message = failure(
                try await run(job("joined.ogg", action, policy: "fail", to: name), in: scratch.path))
            #expect(message.contains("files were joined"), "\(name): \(message)")
            #expect(!message.contains("damaged"), "\(name): \(message)")
        }
    }

    @Test func concatenatedMP3IsReportedAsJoined() async throws {
        let scratch = try Scratch()
        let data =
            try tone("a.mp3", 440, "libmp3lame", in: scratch) + tone("b.mp3", 880, "libmp3lame", in: scratch)
        try data.write(to: URL(fileURLWithPath: scratch.file("joined.mp3")))
        let action = "encode: { codec: pcm_s16le }"
        let message = failure(
            try await run(job("joined.mp3", action, policy: "fail", to: "o.wav"), in: scratch.path))
        #expect(message.contains("files were joined"), "\(message)")
        let result = try success(
            try await run(job("joined.mp3", action, policy: "skip", to: "o.wav"), in: scratch.path))
        #expect(result.outputs[0].duration.seconds > 11.9)
    }
}
