internal import LibAV

extension AssetWriterInput {
    /// Creates an input that encodes video (`init(mediaType:outputSettings:)`).
    /// - Throws: `MediaError.invalidSettings`, which states the allowed values, or `MediaError.noEncoder`.
    public convenience init(video settings: VideoSettings) throws(MediaError) {
        let configuration = try settings.configuration()
        self.init(mediaType: .video, settings: .encode(configuration))
        nominalFrameRate = settings.frameRate
    }

    /// Creates an input that encodes audio.
    /// - Throws: `MediaError.invalidSettings`, which states the allowed values, or `MediaError.noEncoder`.
    public convenience init(audio settings: AudioSettings) throws(MediaError) {
        let configuration = try settings.configuration()
        self.init(mediaType: .audio, settings: .encode(configuration))
    }
}

extension AssetWriter {
    /// Returns whether the writer's container and an encoder of this build support the settings
    /// (`canApply(outputSettings:forMediaType:)`). The encoder is opened without media.
    public func canApply(_ settings: VideoSettings) -> Bool {
        guard let configuration = try? settings.configuration(for: container),
            canHold(.video, codec: settings.codec.codecName)
        else { return false }
        return EncoderValidation.problem(configuration) == nil
    }

    /// Returns whether the writer's container and an encoder of this build support the settings.
    public func canApply(_ settings: AudioSettings) -> Bool {
        // The configuration of audio is tried with the encoder when it is created.
        canHold(.audio, codec: settings.codec.codecName) && (try? settings.configuration()) != nil
    }

    private func canHold(_ type: MediaType, codec: String) -> Bool {
        container.mediaTypes.contains(type) && container.canHold(codec: codec)
    }
}
