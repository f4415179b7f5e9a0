internal import LibAV

/// Track format of a smart cut.
extension SmartCut {
    /// Returns the source's H.264 parameter sets, with gaps in frame numbers allowed if a part starts with an open GOP.
    /// Nil if the headers can't be parsed.
    func headers(of parameters: CodecParameters) throws -> AVCHeaders? {
        guard var headers = AVCHeaders(parameters.extradata) else { return nil }
        if opensGroups {
            guard let sets = AVCParameterSets(headers) else { throw Obstacle.headers }
            headers.sequences = headers.sequences.map { sets.allowingGaps($0) ?? $0 }
        }
        return headers
    }

    /// Returns the format of the output's track: the source's parameters, with the edges' parameter sets added.
    package func outputFormat(of track: AssetTrack) throws -> FormatDescription {
        let parameters = track.format.parameters
        switch CutBitstream.Codec(rawValue: track.format.codec) {
        case .h264:
            guard var headers = try headers(of: parameters) else { throw Obstacle.headers }
            if hasEdges {
                let edge = try FrameEncoder.open(encoder, globalHeaders: true).parameters
                guard let own = AVCHeaders(edge.extradata) else { throw Obstacle.headers }
                headers = headers.joined(with: own)
            }
            guard let record = headers.configurationRecord else { throw Obstacle.headers }
            return track.format.with(
                try parameters.with(extradata: record, level: headers.level, codecTag: nil))
        case .hevc:
            guard let headers = HEVCHeaders(parameters.extradata) else { throw Obstacle.headers }
            guard hasEdges || headers.framing == .startCodes else { return track.format }
            return track.format.with(
                try parameters.with(
                    extradata: headers.configurationRecord, level: nil, codecTag: "hev1"))
        case nil: throw Obstacle.codec(track.format.codec)
        }
    }
}
