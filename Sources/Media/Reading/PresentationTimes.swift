public import LibAV

extension AssetTrack {
    /// A packet of pictures doesn't say when it is shown: without reordering its decoding time would do.
    func lacksTime(_ packet: borrowing Packet) -> Bool {
        mediaType == .video && packet.pts == noTimestamp
            && (packet.dts == noTimestamp || format.parameters.reorderDelay > 0)
    }

    /// The track's packets say when they are shown, or it can be told without decoding them. Reads the first few.
    public func saysPresentationTimes(path: String, limits: InputLimits = InputLimits()) throws -> Bool {
        guard mediaType == .video else { return true }
        let packets = try PacketSource(track: self, path: path, limits: limits)
        for _ in 0..<4 {
            guard let packet = try packets.next() else { return true }
            if lacksTime(packet) { return false }
        }
        return true
    }
}
