package import LibAV

/// Why packets can't be copied for the order of their times.
package enum OrderProblem: Codable, Hashable, Sendable {
    /// Decoding times go back further than they could be set right.
    case unordered(at: MediaTime)
    /// Frames are hidden between those that are shown.
    case hiddenBetween(at: MediaTime)
}

extension AssetTrack {
    /// A packet of frames doesn't say when it is shown: without reordering its decoding time would do.
    func lacksTime(_ packet: borrowing Packet) -> Bool {
        switch mediaType {
        case .video:
            packet.pts == noTimestamp
                && (packet.dts == noTimestamp || format.parameters.reorderDelay > 0)
        // Metadata of broadcasts that belongs to no frame in particular.
        case .data: packet.pts == noTimestamp && packet.dts == noTimestamp
        default: false
        }
    }

    /// Why its packets can't be copied whole for the order of their times; nil where they can. Reads all of them.
    package func orderProblem(path: String, environment: MediaEnvironment) throws -> OrderProblem? {
        let contents = try Asset(.file(path), environment: environment).loadSynchronously()
        let packets = try PacketSource(
            track: self, of: SourceContainer(contents.container), path: path,
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

    /// The track's packets say when they are shown, or it can be told without decoding them. Reads the first few.
    package func saysPresentationTimes(path: String, environment: SourceEnvironment) throws -> Bool {
        guard mediaType == .video || mediaType == .data else { return true }
        let packets = try PacketSource(track: self, of: .unknown, path: path, environment: environment)
        for _ in 0..<4 {
            guard let packet = try packets.next() else { return true }
            if lacksTime(packet) { return false }
        }
        return true
    }
}
