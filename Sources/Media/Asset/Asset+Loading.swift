public import LibAV

extension Asset {
    /// Loads several properties together, and returns them as a tuple (`load(_:_:)`).
    /// - Throws: as for one property.
    public func load<First, Second, each Other>(
        _ first: AssetProperty<First>, _ second: AssetProperty<Second>,
        _ others: repeat AssetProperty<each Other>
    ) async throws -> (First, Second, repeat each Other) {
        let contents = try await load(.contents)
        return (first.read(contents), second.read(contents), repeat (each others).read(contents))
    }

    /// Loads the tracks of a media type, without cover art (`loadTracks(withMediaType:)`).
    public func loadTracks(withMediaType type: MediaType) async throws -> [AssetTrack] {
        try await load(.contents).tracks(of: type)
    }

    /// Loads the tracks with a characteristic (`loadTracks(withMediaCharacteristic:)`).
    public func loadTracks(
        withMediaCharacteristic characteristic: MediaCharacteristic
    ) async throws -> [AssetTrack] {
        try await load(.contents).tracks(with: characteristic)
    }

    /// Loads the track with an ID of the container (`loadTrack(withTrackID:)`); nil if there is none.
    public func loadTrack(withTrackID id: Int) async throws -> AssetTrack? {
        try await load(.contents).tracks.first { $0.trackID == id }
    }
}
