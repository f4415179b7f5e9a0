internal import YAMLDocument

/// The nodes of a job and of its outputs. Without `outputs`, all keys belong to the job.
///
/// Output keys of the job, and of `defaults`, are merged under each output before substitution, so that they
/// may contain `${output}`.
struct OutputNodes {
    /// The job without the keys that `shared` and `outputs` contain.
    let job: YAMLNode
    /// Entry of `outputs`; nil for a job without it.
    let outputs: YAMLNode.Entry?
    /// Keys that are merged under every output.
    private let shared: [YAMLNode.Entry]

    init(_ written: YAMLNode) {
        guard case .mapping(let entries) = written.content,
            let outputs = NodeReader.respelled(entries, as: Language.job).first(where: { $0.key == "outputs" }
            )
        else {
            (job, outputs, shared) = (written, nil, [])
            return
        }
        self.outputs = outputs
        shared = entries.filter { Language.output.has($0.key) }
        job = YAMLNode(
            .mapping(entries.filter { !Language.output.has($0.key) && $0.keyRange != outputs.keyRange }),
            at: written.range)
    }

    /// Returns a job with the track rules of `defaults` merged under each of its outputs. As keys of the job, they
    /// would conflict with `outputs`.
    static func withRules(of defaults: YAMLNode, in job: YAMLNode) -> YAMLNode {
        guard case .mapping(let below) = defaults.content, case .mapping(let entries) = job.content,
            let outputs = entries.first(where: { $0.key == "outputs" }),
            case .mapping(let items) = outputs.value.content
        else { return job }
        let inheritable = OutputKindKey.names(where: \.isAllowedInOutputs)
        let rules = below.filter { inheritable.contains($0.key) }
        guard !rules.isEmpty else { return job }
        let inherited = YAMLNode(.mapping(rules), at: defaults.range)
        let merged = items.map { item in
            YAMLNode.Entry(
                key: item.key, keyRange: item.keyRange,
                value: NodeMerge.merge(item.value, over: inherited, as: Language.output))
        }
        return YAMLNode(
            .mapping(
                entries.map { entry in
                    guard entry.key == "outputs" else { return entry }
                    return YAMLNode.Entry(
                        key: entry.key, keyRange: entry.keyRange,
                        value: YAMLNode(.mapping(merged), at: outputs.value.range))
                }), at: job.range)
    }

    /// Returns the job with all its keys, for validating them.
    func complete(of job: YAMLNode) -> YAMLNode {
        guard let outputs, case .mapping(let entries) = job.content else { return job }
        return YAMLNode(.mapping(entries + shared + [outputs]), at: job.range)
    }

    /// Returns an output with the shared keys merged under it.
    func output(_ written: YAMLNode) -> YAMLNode {
        NodeMerge.merge(written, over: YAMLNode(.mapping(shared), at: written.range), as: Language.output)
    }
}
