package import LibAV

/// A timestamp problem because of which a track's packets can't be copied.
package enum OrderProblem: Codable, Hashable, Sendable {
    /// Decoding times decrease by more than can be corrected.
    case unordered(at: MediaTime)
    /// An edit list hides frames between presented ones.
    case hiddenBetween(at: MediaTime)
}

extension AssetTrack {
    /// Returns whether a packet has no usable presentation time. Without reordering, a decoding time is sufficient.
    func lacksTime(_ packet: borrowing Packet) -> Bool {
        switch mediaType {
        case .video:
            packet.pts == noTimestamp
                && (packet.dts == noTimestamp || format.parameters.reorderDelay > 0)
        // Broadcast metadata that isn't synchronized with a frame has no times.
        case .data: packet.pts == noTimestamp && packet.dts == noTimestamp
        default: false
        }
    }

    /// Returns the timestamp problem that prevents a copy of the track's packets; nil if there is none. Reads the whole
    /// track.
    package func orderProblem(path: String, environment: MediaEnvironment) throws -> OrderProblem? {
        let contents = try Asset(.file(path), environment: environment).loadSynchronously()
        let packets = try PacketSource(
            track: self, of: contents.demuxer, path: path,
            environment: environment.sources)
        packets.timeZero = contents.timeZero
        let producer = PassthroughProducer(
            packets: packets, context: ProducerContext(track: self, timeZero: contents.timeZero, range: nil))
        do {
            while try producer.nextAtOnce() != nil {}
        } catch MediaError.unorderedTimes(_, let time) {
            return .unordered(at: time)
        } catch MediaError.decodedLate(_, let time, _) {
            return .unordered(at: time)
        } catch MediaError.hiddenBetween(_, let time) {
            return .hiddenBetween(at: time)
        }
        return nil
    }

    /// Returns whether the track's packets have presentation times, or times that can be derived without decoding.
    /// Reads the first few packets.
    package func hasPresentationTimes(path: String, environment: SourceEnvironment) throws -> Bool {
        guard mediaType == .video || mediaType == .data else { return true }
        let packets = try PacketSource(track: self, of: .unknown, path: path, environment: environment)
        for _ in 0..<4 {
            guard let packet = try packets.next() else { return true }
            if lacksTime(packet) { return false }
        }
        return true
    }
}
