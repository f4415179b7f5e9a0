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
        guard let configuration = try? settings.configuration(for: container) else { return false }
        return canApply(configuration, codec: settings.codec.codecName)
    }

    /// Returns whether the writer's container and an encoder of this build support the settings.
    public func canApply(_ settings: AudioSettings) -> Bool {
        guard let configuration = try? settings.configuration() else { return false }
        return canApply(configuration, codec: settings.codec.codecName)
    }

    private func canApply(_ configuration: EncoderConfiguration, codec: String) -> Bool {
        guard container.mediaTypes.contains(configuration.mediaType), container.canHold(codec: codec) else {
            return false
        }
        return EncoderValidation.problem(configuration) == nil
    }
}
