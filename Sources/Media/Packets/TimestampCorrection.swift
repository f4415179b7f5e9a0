internal import DequeModule
internal import LibAV

/// Puts times that are counted in samples in place of the container's. See `AudioTimestampCorrector`.
final class TimestampCorrection: PacketStage {
    private var corrector: AudioTimestampCorrector
    /// Packets that were looked at to find out where the first of them begins.
    private var seen = UniqueDeque<Packet>()

    /// One sample: the unit of the times that come out.
    var unit: Rational { corrector.unit }

    /// Nil for frames of video, and where the container's clock can say every sample's time.
    init?(_ track: AssetTrack) {
        guard let corrector = AudioTimestampCorrector(track) else { return nil }
        self.corrector = corrector
    }

    /// Takes note of the track's first packet.
    func begin(with packet: borrowing Packet) { corrector.begin(with: packet) }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        guard corrector.wantsSight else {
            corrector.count(packet)
            return try next(packet)
        }
        corrector.see(packet)
        seen.append(packet)
        if !corrector.wantsSight { try settle(into: next) }
    }

    func finish(into next: (consuming Packet) throws -> Void) throws { try settle(into: next) }

    func interrupt(into next: (consuming Packet) throws -> Void) throws { try settle(into: next) }

    private func settle(into next: (consuming Packet) throws -> Void) throws {
        guard !seen.isEmpty else { return }
        corrector.settle()
        while let packet = seen.popFirst() {
            corrector.count(packet)
            try next(packet)
        }
    }

    func lose() { corrector.lose() }

    func reset() {
        seen = UniqueDeque()
        corrector.restart()
    }
}
