internal import LibAV

/// Codecs of stills, by the names of their files' formats. They are no codecs of movies.
extension CodecModel {
    /// The codecs of stills, in the order in which they are listed.
    static let stills: [CodecModel] = [jpeg, png, webp]

    private static let jpeg: CodecModel = {
        var model = mjpeg
        model.name = "jpeg"
        model.isStill = true
        // A JPEG's tables are scaled as everybody's are, in eighths of the usual one of MPEG.
        model.stillQuality = StillQuality(usual: 90) { quality in
            let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
            return min(31, max(1, Int((Double(percent) / 12.5).rounded())))
        }
        return model
    }()

    private static let png: CodecModel = {
        var model = video("png", encoders: ["png"])
        model.isStill = true
        model.takesKeyframeInterval = false
        model.takesBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        model.bitsPerPixel = 12
        // Eight bits a sample, as everybody shows them; indexed colours and bitmaps would be computed by a guess.
        model.suits = { format, _, _ in ["rgb24", "rgba", "gray", "ya8"].contains(format.description) }
        return model
    }()

    private static let webp: CodecModel = {
        var model = video("webp", encoders: ["libwebp"])
        model.isStill = true
        model.takesKeyframeInterval = false
        model.takesBitRate = false
        model.stillQuality = StillQuality(usual: 80) { $0 }
        model.qpPlace = .option("quality")
        model.bitsPerPixel = 0.5
        // libwebp brings colours to what its readers take them for.
        model.suits = { format, _, _ in format.isRGB }
        return model
    }()
    /// The codecs of animations, files of stills that are shown one after the other, in the order in which they are listed.
    static let animations: [CodecModel] = [gif, animatedWebP]

    private static let gif: CodecModel = {
        var model = video("gif", encoders: ["gif"])
        model.isStill = true
        model.takesKeyframeInterval = false
        model.takesBitRate = false
        model.defaultRate = "256 colours"
        model.bitsPerPixel = 4
        // The palette is one of all frames, so it is made when all are known.
        model.composed = (frames: ["rgb24", "rgba"], encoded: "pal8")
        return model
    }()

    private static let animatedWebP: CodecModel = {
        var model = webp
        model.encoders = ["libwebp_anim"]
        model.bitsPerPixel = 0.4
        return model
    }()
}
