internal import LibAV

extension ContainerModel {
    /// Matroska (RFC 9559).
    static let mkv: ContainerModel = {
        var model = matroska(
            "mkv", muxer: "matroska", ["mkv", "mka"], [.video, .audio, .subtitle, .attachment])
        model.demuxer = .matroska
        model.coverCodecs = BitstreamTraits.covers
        model.attachesCovers = true
        model.storesDolbyVision = true
        model.marksDolbyVisionProfile5 = true
        model.hasTimecode = true
        model.setDispositions([
            "default", "dub", "original", "comment", "forced", "hearing_impaired", "visual_impaired",
        ])
        return model
    }()
}
