public import LibAV

extension AssetTrack {
    /// The track's packets say when they are shown, or it can be told without decoding them. Reads the first few.
    public func saysPresentationTimes(path: String, limits: InputLimits = InputLimits()) throws -> Bool {
        guard mediaType == .video else { return true }
        let lane = try DemuxLane(path: path, streams: [index], limits: limits, interrupt: InterruptFlag())
        let packets = PacketSource(
            track: self, lane: lane, path: path, limits: limits, interrupt: InterruptFlag(), ownsLane: true,
            movement: MovementCounter())
        for _ in 0..<4 {
            guard let packet = try packets.next() else { return true }
            if packet.pts == noTimestamp, packet.dts == noTimestamp || format.parameters.reorderDelay > 0 {
                return false
            }
        }
        return true
    }
}
