internal import LibAV

/// Loading of streaming packages, whose renditions are the tracks of one asset.
extension AssetLoader {
    /// Returns the contents of all parts as one: tracks follow each other, and have the same time line.
    func contents(
        of package: SegmentedPackage, at manifest: String, timing: AssetTiming
    ) throws -> AssetContents {
        let parts = try package.parts.map { part in
            let location = PackageTable.location(of: part, at: manifest)
            let contents = try contents(ofSingleFile: location, timing: timing)
            guard Self.isSegmentFormat(contents) else {
                throw InputError(
                    path: location, reason: .formatNotAllowed(format: "\(contents.container), in segments,"))
            }
            return contents
        }
        let main = parts.filter { $0.tracks.contains { $0.mediaType == .video || $0.mediaType == .audio } }
        // The clocks of transport streams begin at any time, which all renditions share.
        let isArbitrary = main.contains { $0.demuxer.hasArbitraryStart }
        let timeZero = isArbitrary ? main.map(\.timeZero).min() ?? .zero : .zero
        var tracks: [AssetTrack] = []
        for (part, contents) in zip(package.parts, parts) {
            let first = tracks.count
            for track in contents.tracks {
                tracks.append(
                    track.described(
                        by: description(of: track, in: part, first, contents.timeZero - timeZero)))
            }
        }
        let determining = main.isEmpty ? parts : main
        let shown = tracks.filter { main.isEmpty || $0.mediaType == .video || $0.mediaType == .audio }
        return AssetContents(
            container: (main.first ?? parts[0]).container,
            fileSize: parts.reduce(0) { $0 + $1.fileSize }, missingBytes: 0, tracks: tracks,
            duration: shown.map(\.timeRange.end).max() ?? .zero,
            isDurationExact: determining.allSatisfy(\.isDurationExact), timeZero: timeZero,
            metadata: parts[0].metadata, chapters: parts[0].chapters)
    }

    /// Returns whether libavformat reads segments one after the other as one file.
    private static func isSegmentFormat(_ contents: AssetContents) -> Bool {
        contents.demuxer.isForPackages
    }

    /// Returns the description of a part's track, with the properties that the manifest states. `first` is the number of
    /// tracks before the part, `shift` the difference of its time zero.
    private func description(
        of track: AssetTrack, in part: SegmentedPackage.Part, _ first: Int, _ shift: MediaTime
    ) -> TrackDescription {
        var description = track.description
        description.index += first
        description.timeRange = TimeRange(
            start: max(.zero, description.timeRange.start + shift), duration: description.timeRange.duration)
        description.language = description.language ?? part.language
        description.title = part.title ?? description.title
        if let disposition = part.disposition {
            // Each rendition is a file, in which its track is the default.
            let own = description.disposition.filter { $0 != "default" }
            description.disposition = (Set(own).union(disposition)).sorted()
        }
        return description
    }
}
