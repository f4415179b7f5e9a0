internal import LibAV

/// Checks of inputs before they are added.
extension AssetWriter {
    /// Returns whether an input can be added: writing hasn't started, the input has no writer yet, and the container
    /// supports another track of its media type and codec.
    public func canAdd(_ input: AssetWriterInput) -> Bool {
        guard problem(adding: input) == nil else { return false }
        switch input.settings {
        // Codecs of data tracks and attachments are specific to the container, and aren't queried from the muxer.
        case .passthrough(let format, _):
            return [.data, .attachment].contains(input.mediaType) || container.canHold(codec: format.codec)
        case .encode(let configuration):
            return EncoderInfo(named: configuration.encoder).map { container.canHold(codec: $0.codecName) }
                ?? false
        }
    }

    /// Returns the error for an input that can't be added, regardless of its codec; nil if it can be added.
    func problem(adding input: AssetWriterInput) -> MediaError? {
        guard status == .unknown else { return .misuse("inputs must be added before writing starts") }
        if input.isAttached { return .misuse("the input already belongs to a writer") }
        if let segmentProfile {
            guard [.video, .audio].contains(input.mediaType) else {
                return .invalidArgument("segments don't support \(input.mediaType.rawValue) tracks")
            }
            guard segmentProfile != .cmaf || inputs.isEmpty else {
                return .invalidArgument(
                    "segments with the profile cmaf have one track; use the profile hls, or a writer for each track"
                )
            }
        }
        guard container.mediaTypes.contains(input.mediaType), !container.model.isSingleTrack || inputs.isEmpty
        else { return .invalidArgument("\(container.name) can't store this track") }
        return nil
    }
}
