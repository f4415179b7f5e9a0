internal import LibAV
package import Media

/// Typed queries: a request, and the value of the corresponding response.
extension SourceProber {
    package func description(of path: String, _ timing: AssetTiming = .fast) throws(SourceProblem)
        -> SourceDescription
    {
        let reply = try respond(to: ProbeRequest(path: path, subject: .description(timing)))
        guard case .description(let description) = reply else { throw .unexpectedReply }
        return description
    }

    func hasPresentationTimes(_ track: Int, of path: String) throws(SourceProblem) -> Bool {
        let reply = try respond(to: ProbeRequest(path: path, subject: .presentationTimes(track: track)))
        guard case .presentationTimes(let hasTimes) = reply else { throw .unexpectedReply }
        return hasTimes
    }

    /// Returns the reason why a track's packets can't be copied in their order; nil if they can.
    func orderProblem(_ track: Int, of path: String) throws(SourceProblem) -> OrderProblem? {
        guard
            case .order(let problem) = try respond(
                to: ProbeRequest(path: path, subject: .order(track: track)))
        else { throw .unexpectedReply }
        return problem
    }

    /// Returns the possibilities of copying a range of a track; nil if the track no longer exists.
    func cut(
        _ track: Int, of path: String, range: TimeRange, damagePolicy: DamagePolicy,
        edges: ProbeRequest.CutEdges = .none
    ) throws(SourceProblem) -> CutPossibilities? {
        let reply = try respond(
            to: ProbeRequest(
                path: path,
                subject: .cut(track: track, range: range, damagePolicy: damagePolicy, edges: edges)))
        guard case .cut(let possibilities) = reply else { throw .unexpectedReply }
        return possibilities
    }

    func description(of sequence: ImageSequence) throws(SourceProblem) -> SourceDescription {
        let reply = try respond(to: ProbeRequest(path: sequence.files[0], subject: .images(sequence)))
        guard case .description(let description) = reply, description.tracks.count == 1,
            description.duration == sequence.duration
        else { throw .unexpectedReply }
        return description
    }

    /// Returns the image of a file that becomes a cover.
    func cover(of path: String) throws(SourceProblem) -> CoverImage {
        guard case .cover(let image) = try respond(to: ProbeRequest(path: path, subject: .cover)),
            image.isValid
        else { throw .unexpectedReply }
        return image
    }

    /// Returns size and digest of a file of at most `limit` bytes.
    func fileContents(of path: String, limit: Int64) throws(SourceProblem) -> FileContents {
        let request = ProbeRequest(path: path, subject: .fileContents(limit: limit))
        guard case .fileContents(let contents) = try respond(to: request), contents.isValid(upTo: limit)
        else { throw .unexpectedReply }
        return contents
    }

    /// Returns the presentation times of a track's keyframes.
    func keyFrames(_ track: Int, of path: String, limit: Int) throws(SourceProblem) -> [MediaTime] {
        let reply = try respond(
            to: ProbeRequest(path: path, subject: .keyFrames(track: track, limit: limit)))
        guard case .keyFrames(let times) = reply, times.count <= limit else { throw .unexpectedReply }
        return times
    }

    /// Returns the start times of a track's scenes, without the first.
    func scenes(
        _ track: Int, of path: String, difference: Int, limit: Int
    ) throws(SourceProblem) -> [MediaTime] {
        let reply = try respond(
            to: ProbeRequest(
                path: path, subject: .scenes(track: track, difference: difference, limit: limit)))
        guard case .keyFrames(let times) = reply, times.count <= limit else { throw .unexpectedReply }
        return times
    }

    /// Returns the positions of a video track's frames by number.
    func frames(
        _ numbers: [Int64], of track: Int, in ranges: [TimeRange], of path: String
    ) throws(SourceProblem) -> FramePositions {
        let reply = try respond(
            to: ProbeRequest(path: path, subject: .frames(track: track, ranges: ranges, numbers: numbers)))
        guard case .frames(let found) = reply, found.positions.count == numbers.count else {
            throw .unexpectedReply
        }
        return found
    }

    /// Returns whether a subtitle track has an event in some ranges.
    func hasSubtitleEvents(
        _ track: Int, in ranges: [TimeRange], of path: String
    ) throws(SourceProblem) -> Bool {
        let reply = try respond(
            to: ProbeRequest(path: path, subject: .subtitleEvents(track: track, ranges: ranges)))
        guard case .presence(let isThere) = reply else { throw .unexpectedReply }
        return isThere
    }

    /// Returns the frame rate at which every frame of a range of a track is shown; nil if the track no longer exists.
    func cadence(_ track: Int, of path: String, in range: TimeRange) throws(SourceProblem) -> FrameCadence? {
        let reply = try respond(to: ProbeRequest(path: path, subject: .cadence(track: track, range: range)))
        guard case .cadence(let cadence) = reply else { throw .unexpectedReply }
        return cadence
    }

    /// Returns the size of a track's packets in bytes.
    func byteCount(_ track: Int, of path: String) throws(SourceProblem) -> Int64 {
        let reply = try respond(to: ProbeRequest(path: path, subject: .byteCount(track: track)))
        guard case .byteCount(let count) = reply, count >= 0 else { throw .unexpectedReply }
        return count
    }

    /// Returns the rectangle of a track's coded frame within its black borders; nil if all examined frames are black.
    func activeArea(_ track: Int, of path: String) throws(SourceProblem) -> PixelRectangle? {
        let reply = try respond(to: ProbeRequest(path: path, subject: .activeArea(track: track)))
        guard case .activeArea(let rectangle) = reply else { throw .unexpectedReply }
        return rectangle
    }

    /// Returns the loudness of audio; nil if the track no longer exists.
    func loudness(
        _ query: ProbeRequest.LoudnessQuery, of path: String
    ) throws(SourceProblem) -> LoudnessBlocks? {
        guard
            case .loudness(let blocks) = try respond(to: ProbeRequest(path: path, subject: .loudness(query)))
        else { throw .unexpectedReply }
        return blocks
    }

    /// Returns the possibilities of ranges of a track in a cut of several sources; nil if the track no longer exists.
    func clipCut(
        _ track: Int, of path: String, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration?
    ) throws(SourceProblem) -> CutPossibilities? {
        let reply = try respond(
            to: ProbeRequest(
                path: path, subject: .clipCut(track: track, ranges: ranges, tick: tick, encoder: encoder)))
        guard case .cut(let possibilities) = reply else { throw .unexpectedReply }
        return possibilities
    }

    /// Returns the properties of a track's audio packets, which must match to join the packets of several sources; nil
    /// if the track no longer exists.
    func audioFormat(_ track: Int, of path: String) throws(SourceProblem) -> AudioPacketFormat? {
        let reply = try respond(to: ProbeRequest(path: path, subject: .audioFormat(track: track)))
        guard case .audioFormat(let format) = reply else { throw .unexpectedReply }
        return format
    }

    /// Returns the possibilities of copying several ranges of a track, one after the other; nil if the track no
    /// longer exists.
    func joinedCut(
        _ track: Int, of path: String, ranges: [TimeRange], encoder: EncoderConfiguration?
    ) throws(SourceProblem) -> CutPossibilities? {
        let reply = try respond(
            to: ProbeRequest(
                path: path, subject: .joinedCut(track: track, ranges: ranges, encoder: encoder)))
        guard case .cut(let possibilities) = reply else { throw .unexpectedReply }
        return possibilities
    }
}

extension SourceProblem {
    /// The error for a response that doesn't match the request.
    fileprivate static var unexpectedReply: SourceProblem {
        SourceProblem("the reply belongs to another request")
    }
}
