internal import LibAV

/// Converts copied AAC in ADTS frames, as in transport streams, to the form of movies: packets without ADTS headers, and
/// an AudioSpecificConfig, which the filter adds to the first packet.
///
/// libavformat inserts the same filter automatically, except for fragmented movies (`AVFMT_FLAG_AUTO_BSF`).
final class ADTSUnwrapping: PacketStage {
    private let parameters: CodecParameters
    private let track: TrackReference
    /// Opened at the first packet with an ADTS header.
    private var filter: BitstreamFilter?

    /// Returns nil for other codecs, and for AAC whose AudioSpecificConfig is known, which has no ADTS headers.
    init?(_ parameters: CodecParameters, track: TrackReference) {
        guard parameters.traits.unwrappingFilter != nil, parameters.extradata.isEmpty else { return nil }
        self.parameters = parameters
        self.track = track
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        // The syncword, and the layer, which is 0.
        let isWrapped = packet.withBytes { $0.count > 2 && $0[0] == 0xff && $0[1] & 0xf6 == 0xf0 }
        guard isWrapped, let name = parameters.traits.unwrappingFilter else { return try next(packet) }
        do {
            if filter == nil { filter = try .open(name, parameters, timeBase: Rational(1, 1)) }
            try filter?.send(packet)
            while true {
                let unwrapped = try Packet()
                guard case .ready? = try filter?.receive(into: unwrapped) else { return }
                try next(unwrapped)
            }
        } catch let error as AVError {
            throw MediaError.reading(track: track, at: nil, error)
        }
    }
}
