internal import LibAV

extension ContainerModel {
    /// QuickTime movies.
    static let mov: ContainerModel = {
        var model = movie("mov", ["mov", "qt"], [.video, .audio, .subtitle, .data])
        // libavformat reports these codecs as supported, but rejects them when it writes: their boxes are defined for
        // MP4 only.
        model.codecs = .queried(except: ["flac", "opus", "truehd", "vp8", "vp9", "av1"])
        model.dataCodecs = ["gpmd"]
        model.hasTimecode = true
        // libavformat writes only `nclc`, which has no range.
        model.storesColor = true
        model.requiresCompleteColor = true
        model.languageFormat = .quickTime
        model.setDispositions(["default"])
        // Keys for which libavformat writes QuickTime's predefined atoms.
        model.metadataKeys = [
            "title", "artist", "album", "date", "comment", "genre", "copyright", "encoder",
            MetadataEntry.timecodeKey,
            "creation_time", "location",
        ]
        model.hasMetadataKeyList = true
        model.keepsTrackTitlesInHandlers = true
        return model
    }()
}
