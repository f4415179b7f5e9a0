internal import LibAV

extension ContainerModel {
    /// QuickTime's movies.
    static let mov: ContainerModel = {
        var model = movie("mov", ["mov", "qt"], [.video, .audio, .subtitle, .data])
        // The muxer says yes when asked, and refuses them when it writes: they have boxes in MP4 alone.
        model.codecs = .asked(except: ["flac", "opus", "truehd", "vp8", "vp9", "av1"])
        model.dataCodecs = ["gpmd"]
        model.hasTimecode = true
        // `nclc` has no place for a range, and libavformat writes no other.
        model.saysColor = true
        model.saysColorAsAWhole = true
        model.languageForm = .quickTime
        model.setDispositions(["default"])
        // What libavformat writes of tags into QuickTime's own atoms.
        model.metadataKeys = [
            "title", "artist", "album", "date", "comment", "genre", "copyright", "encoder", "timecode",
            "creation_time", "location",
        ]
        return model
    }()
}
