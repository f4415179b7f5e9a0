public import LibAV

extension AssetTrack {
    /// A packet of pictures doesn't say when it is shown: without reordering its decoding time would do.
    func lacksTime(_ packet: borrowing Packet) -> Bool {
        switch mediaType {
        case .video:
            packet.pts == noTimestamp
                && (packet.dts == noTimestamp || format.parameters.reorderDelay > 0)
        // Metadata of broadcasts that belongs to no picture in particular.
        case .data: packet.pts == noTimestamp && packet.dts == noTimestamp
        default: false
        }
    }

    /// The track's packets say when they are shown, or it can be told without decoding them. Reads the first few.
    public func saysPresentationTimes(path: String, limits: InputLimits = InputLimits()) throws -> Bool {
        guard mediaType == .video || mediaType == .data else { return true }
        let packets = try PacketSource(track: self, path: path, limits: limits)
        for _ in 0..<4 {
            guard let packet = try packets.next() else { return true }
            if lacksTime(packet) { return false }
        }
        return true
    }
}
