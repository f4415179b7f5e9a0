internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Tells whether what a job asks for depends on where a source ends that doesn't say how long it is. Such a source is
/// measured, whatever its `timing`: copied frames can't be cut at a guess, and a guess is no reason to refuse a range.
struct GuessedLength {
    let source: SourceDescription
    let job: JobSpec

    var matters: Bool {
        guard source.isDurationGuessed else { return false }
        return job.ranges.contains(where: reaches) || job.outputs.contains(where: hasStillPastEnd)
    }

    /// A range that is re-encoded goes on to the source's own end where that is asked for; a copied one ends where it says.
    private func reaches(_ range: RangeSpec) -> Bool {
        let cutsPackets = ![nil, .exact].contains(job.cut?.value)
        let resolver = RangeResolver(source: source, video: source.tracks(of: .video).first)
        var sink = DiagnosticSink()
        let start = range.start.map { resolver.time($0, into: &sink) ?? .zero } ?? .zero
        guard start < source.duration else { return true }
        if let written = range.end {
            if case .end = written.value { return cutsPackets }
            guard let end = resolver.time(written, into: &sink) else { return true }
            return end > source.duration || cutsPackets && end == source.duration
        }
        guard let written = range.duration else { return cutsPackets }
        guard let length = resolver.duration(written, into: &sink) else { return false }
        return start + length > source.duration || cutsPackets && start + length == source.duration
    }

    private func hasStillPastEnd(_ output: OutputSpec) -> Bool {
        guard job.ranges.isEmpty, case .at(let times)? = output.images?.selection else { return false }
        return times.contains {
            if case .absolute(let time) = $0.value { time > source.duration } else { false }
        }
    }
}
