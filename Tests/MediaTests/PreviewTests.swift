import Foundation
import LibAV
import Media
import TestSupport
import Testing

/// Tests the waveforms, bit rate curves and thumbnails of reports.
@Suite struct PreviewTests {
    /// The waveform shows silence, followed by a tone at half of full scale in the right channel only.
    @Test(arguments: [4, 2400]) func waveformFollowsTheAudio(_ seconds: Int) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0|0.5*sin(2*PI*440*t)*gte(t\\,\(seconds / 2)):s=8000:d=\(seconds)",
            "-c:a",
            "flac", scratch.file("a.flac"))
        let asset = Asset(.file(scratch.file("a.flac")), timing: .fast)
        let track = try #require(asset.loadSynchronously().tracks.first)
        let waveform = try #require(try Waveform.measure(asset: asset, track: track))
        let half = waveform.peaks.count / 2
        #expect(waveform.peaks.count == (seconds > 1200 ? 120 : 240))
        #expect(waveform.peaks[..<(half - 1)].allSatisfy { $0 == 0 })
        #expect(waveform.peaks[(half + 1)...].allSatisfy { (126...129).contains($0) }, "\(waveform.peaks)")
        // In one of two channels: half of the tone's power.
        #expect(waveform.levels[(half + 1)...].allSatisfy { (60...68).contains($0) }, "\(waveform.levels)")
    }

    @Test func bitRateCurveContainsEveryByte() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x180:d=10:r=25", "-c:v", "libx264", "-f", "mpegts",
            scratch.file("a.ts"))
        let contents = try Asset(.file(scratch.file("a.ts")), timing: .precise).loadSynchronously()
        let curve = try #require(
            try BitRateCurve.measure(
                path: scratch.file("a.ts"), environment: SourceEnvironment(), duration: contents.duration))
        let packets = try program(
            "ffprobe",
            ["-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", scratch.file("a.ts")])
        let bytes = packets.text.split(separator: "\n").compactMap { Int64($0.filter(\.isNumber)) }.reduce(
            0, +)
        #expect(curve.bitRates.count == 20)
        #expect(abs(curve.average - bytes * 8 / 10) <= 8, "\(curve.average) of \(bytes)")
    }

    @Test func thumbnailIsUprightAndAtItsTime() throws {
        let scratch = try Scratch()
        // Red for two seconds, then blue; with non-square pixels.
        try ffmpeg(
            "-f", "lavfi", "-i",
            "color=red:s=160x180:d=2:r=25[a];color=blue:s=160x180:d=2:r=25[b];[a][b]concat,setsar=2",
            "-c:v", "libx264", "-g", "100", scratch.file("flat.mp4"))
        try copyMovie(scratch.file("flat.mp4"), rotatedBy: 90, to: scratch.file("a.mp4"))
        let asset = Asset(.file(scratch.file("a.mp4")), timing: .fast)
        let track = try #require(asset.loadSynchronously().tracks.first)
        let maker = ThumbnailMaker(asset: asset, track: track, box: PixelSize(width: 96, height: 96))
        for (time, rgb) in [(1, [254, 0, 0]), (3, [0, 0, 254])] {
            let thumbnail = try #require(try maker.thumbnail(at: MediaTime(value: Int64(time), timescale: 1)))
            #expect(thumbnail.width == 54 && thumbnail.height == 96)
            try thumbnail.jpeg.write(to: URL(filePath: scratch.file("a.jpg")))
            let color = try program(
                "ffmpeg",
                [
                    "-v", "error", "-i", scratch.file("a.jpg"), "-vf", "scale=1:1,format=rgb24", "-f",
                    "rawvideo", "-",
                ])
            #expect(zip(color.output, rgb).allSatisfy { abs(Int($0) - $1) < 8 }, "\(color.output)")
        }
        #expect(try maker.thumbnail(at: MediaTime(value: 9, timescale: 1)) == nil)
    }
}
