internal import FileSystem
internal import JobSpec

extension JobPlan {
    /// Size of the file that the job reads, with which `publish_if` compares the output; nil for other sources, and for a
    /// file that doesn't exist yet.
    package var sourceSize: Int64? {
        guard inputs.count == 1, case .file(_, let identity) = inputs[0].source else { return nil }
        return identity.size
    }

    /// Returns the reason why an output of some size isn't published; nil if it is.
    package func refusal(ofOutputWithSize size: Int64) -> String? {
        guard let condition = publishIf, let source = sourceSize, !condition.accepts(size, from: source)
        else {
            return nil
        }
        return
            "the output has \(size) bytes, the source \(source); `publish_if` requires that it is smaller by \(condition.smallerBy.text)"
    }
}
