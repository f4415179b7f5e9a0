internal import DequeModule
internal import LibAV

/// Replaces the container's times by times counted in samples. See `AudioTimestampCorrector`.
final class TimestampCorrection: PacketStage {
    private var corrector: AudioTimestampCorrector
    /// Packets that are held back until the position of the first one is determined.
    private var observed = UniqueDeque<Packet>()

    /// Time base of the output: one sample.
    var unit: Rational { corrector.unit }

    /// Returns nil for video, and if the container's time base is exact to the sample.
    init?(_ track: AssetTrack) {
        guard let corrector = AudioTimestampCorrector(track) else { return nil }
        self.corrector = corrector
    }

    /// Registers the track's first packet as the reference for times after a seek.
    func begin(with packet: borrowing Packet) { corrector.begin(with: packet) }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        guard corrector.needsObservation else {
            corrector.count(packet)
            return try next(packet)
        }
        corrector.observe(packet)
        observed.append(packet)
        if !corrector.needsObservation { try pushObserved(into: next) }
    }

    func finish(into next: (consuming Packet) throws -> Void) throws { try pushObserved(into: next) }

    func interrupt(into next: (consuming Packet) throws -> Void) throws { try pushObserved(into: next) }

    private func pushObserved(into next: (consuming Packet) throws -> Void) throws {
        guard !observed.isEmpty else { return }
        corrector.finishObservation()
        while let packet = observed.popFirst() {
            corrector.count(packet)
            try next(packet)
        }
    }

    func noteLoss() { corrector.noteLoss() }

    func reset() {
        observed = UniqueDeque()
        corrector.restart()
    }
}
