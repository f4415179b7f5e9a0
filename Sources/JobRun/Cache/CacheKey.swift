internal import ExactStrings
internal import FoundationEssentials
package import JobPlan
internal import LibAV
internal import Media
internal import PlanWork
internal import Publishing
internal import Streaming

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
        if task.output.kind.plan.containsOwnName {
            hasher.update("\(task.output.destination?.pathParts.last ?? "")\n")
        }
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
        guard SHA256Hasher.isDigest(text) else { return nil }
        self.text = text
    }
}

extension OutputTask {
    /// Whether the output is kept in a cache. Outputs with text aren't, because the machine's fonts determine them.
    var isCacheable: Bool {
        if case .composition(let composition, _) = input.source, composition.drawsText { return false }
        if output.drawsText { return false }
        return output.kind.plan.isCacheable(output)
    }

    /// Returns whether findings on an output of `size` bytes have the images, files, segments and size that the plan requires.
    func accepts(_ findings: OutputFindings, size: Int64) -> Bool {
        let files = output.files.count
        return findings.imageTimes.count == output.kind.plan.stills.count
            && (files == 1 || findings.parts.count == files)
            && findings.parts.allSatisfy { $0.offset <= size && $0.length <= size - $0.offset }
            && (findings.rendition != nil) == (output.media?.segmentation != nil)
            && findings.rendition?.consists(of: findings.parts, size: size) != false
            && (findings.stop == nil || output.media?.sizeLimit != nil)
            && output.targetSize.map { $0.size.bytes >= size && findings.sizeAttempts.last?.size == size }
                ?? true
    }
}

extension StreamingRendition {
    /// Returns whether the segments are the parts of a file of `size` bytes, without gaps.
    func consists(of parts: [TemporaryFile.Part], size: Int64) -> Bool {
        let lengths = (initializationSize > 0 ? [initializationSize] : []) + segments.map(\.size)
        guard lengths == parts.map(\.length) else { return false }
        var end: Int64 = 0
        for part in parts {
            guard part.offset == end else { return false }
            end += part.length
        }
        return end == size
            && zip(segments, segments.dropFirst()).allSatisfy { $0.start < $1.start }
            && segments.allSatisfy { segment in
                segment.keyframe.map {
                    (0...segment.size).contains($0.offset)
                        && (0...segment.size - $0.offset).contains($0.length)
                } ?? true
            }
    }
}
