internal import ExactStrings
internal import FoundationEssentials
package import JobPlan
internal import LibAV
internal import Media
internal import PlanWork
internal import Publishing

/// The name of an output or a probe in a cache: a digest of everything that determines it. It contains no path, so that it is
/// the same on all machines.
package struct CacheKey: Hashable, Sendable {
    /// 64 hexadecimal digits.
    package let text: String

    /// Creates the key of an output from the digest of its plan, whose source is identified by content.
    package init(_ task: OutputTask, _ digest: PlanDigest) {
        var hasher = SHA256Hasher()
        // An output that was created with damaged data skipped isn't the output of a job that fails for damage.
        hasher.update(
            "output\n\(digest.value.recipe)\n\(task.input.damagePolicy == .skip ? "skip" : "fail")\n")
        text = hasher.finish()
    }

    /// Creates the key of a probe of a source from the digest of its bytes; nil if the request can't be encoded.
    init?(_ request: ProbeRequest, content: String) {
        var request = request
        // Demuxers are chosen by the file's extension as well.
        let ending = request.path?.pathParts.last?.nameParts.1 ?? ""
        request.path = nil
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let words = try? encoder.encode(request) else { return nil }
        var hasher = SHA256Hasher()
        hasher.update("probe\n\(content)\n\(ending)\n")
        for program in PlanDigest.programs { hasher.update("\(program.key)\0\(program.value)\n") }
        hasher.update(Array(words))
        text = hasher.finish()
    }

    /// Creates a key from its text; nil if that isn't a key.
    init?(_ text: String) {
        guard Self.isDigest(text) else { return nil }
        self.text = text
    }

    /// Returns whether a text is a SHA-256 digest in lower-case hexadecimal.
    static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

extension OutputTask {
    /// Whether the output is kept in a cache. A copy of packets isn't: it is created as fast as it is read from a cache. Nor
    /// is an output with text, which the machine's fonts determine.
    var isCacheable: Bool {
        if case .composition(let composition, _) = input.source, composition.drawsText { return false }
        guard output.isPublished, output.package == nil else { return false }
        guard output.isMedia else { return output.expectations.isEmpty }
        return output.tracks.contains { $0.encoding != nil }
    }

    /// Returns whether findings on an output of `size` bytes have the images, files and segments that the plan requires.
    func accepts(_ findings: OutputFindings, size: Int64) -> Bool {
        let files = output.files.count
        return findings.imageTimes.count == output.kind.plan.stills.count
            && (files == 1 || findings.parts.count == files)
            && findings.parts.allSatisfy { $0.offset <= size && $0.length <= size - $0.offset }
            && (findings.rendition != nil) == (output.media?.segmentation != nil)
    }
}
