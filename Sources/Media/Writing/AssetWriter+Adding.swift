internal import LibAV

/// What can be added.
extension AssetWriter {
    /// An input can be added now: writing hasn't started, the input has no writer yet, and the container has a place for another track
    /// of its kind and codec (`canAdd(_:)`).
    public func canAdd(_ input: AssetWriterInput) -> Bool {
        guard problem(adding: input) == nil else { return false }
        switch input.settings {
        // Kinds of data are the container's own.
        case .passthrough(let format, _):
            return [.data, .attachment].contains(input.mediaType) || container.canHold(codec: format.codec)
        case .encode(let configuration):
            return EncoderInfo(named: configuration.encoder).map { container.canHold(codec: $0.codecName) }
                ?? false
        }
    }

    /// What stands against an input whatever its codec.
    func problem(adding input: AssetWriterInput) -> MediaError? {
        guard status == .unknown else { return .misuse("inputs are added before writing starts") }
        if input.isAttached { return .misuse("an input belongs to one writer") }
        guard container.mediaTypes.contains(input.mediaType), !container.isSingleTrack || inputs.isEmpty
        else { return .misuse("\(container.name) can't hold this track") }
        return nil
    }
}
