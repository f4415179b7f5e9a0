import Dispatch
import LibAV
import Media

let args = CommandLine.arguments
let asset = Asset(.file(args[1]))
let contents = try asset.loadSynchronously()
for t in contents.tracks {
    print(t.label, t.format.codec, t.timeRange.start, t.timeRange.end, t.sampleCount as Any, t.editEnd as Any)
}
let reader = try AssetReader(asset: asset)
if args.count > 4, let s = Double(args[3]), let e = Double(args[4]) {
    reader.timeRange = TimeRange(
        start: MediaTime(value: Int64(s * 1000), timescale: 1000), end: MediaTime(value: Int64(e * 1000), timescale: 1000))
}
let out = try TemporaryFile(destination: args[2])
let writer = AssetWriter(output: out, container: .forExtension("mp4")!)
let session = ReencodeSession(reader: reader, writer: writer)
for t in contents.tracks where !t.isAttachedPicture {
    if t.mediaType == .video {
        var c = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: Rational(1, t.timeBase.den == 1000 ? 10000 : t.timeBase.den * 5))
        c.width = t.format.width
        c.height = t.format.height
        c.pixelFormat = t.format.pixelFormat
        c.frameRate = t.nominalFrameRate
        c.sampleAspectRatio = t.format.pixelAspectRatio
        c.color = t.format.color
        c.options = [MetadataEntry(key: "crf", value: "20"), MetadataEntry(key: "preset", value: "medium")]
        let i = AssetWriterInput(mediaType: .video, settings: .encode(c))
        i.transform = t.preferredTransform
        try session.addTrack(output: AssetReaderTrackOutput(track: t, settings: .video(VideoOutputSettings())), input: i)
    } else if t.mediaType == .audio {
        var c = EncoderConfiguration(encoder: "aac", mediaType: .audio, timeBase: Rational(1, t.format.sampleRate))
        c.sampleRate = t.format.sampleRate
        c.sampleFormat = SampleFormat(named: "fltp")!
        c.channelLayout = t.format.channelLayout?.specified
        c.bitRate = 128000
        let i = AssetWriterInput(mediaType: .audio, settings: .encode(c))
        try session.addTrack(
            output: AssetReaderTrackOutput(track: t, settings: .audio(AudioOutputSettings(sampleFormat: SampleFormat(named: "fltp")!))), input: i)
    }
}
let outcome = await session.run()
print(outcome, session.reports)
if case .completed = outcome { try out.publish(replacing: true) }
