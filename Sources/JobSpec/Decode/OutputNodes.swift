internal import YAMLDocument

/// A job's node taken apart: what is of the job, and what is of its outputs. Without `outputs` it is all the job's.
///
/// What stands in the job, or in `defaults`, under a key of outputs is merged under each of them, before names are put
/// in: `${output}` may stand there too.
struct OutputNodes {
    /// What is of the job itself.
    let job: YAMLNode
    /// The entry of `outputs`; nil where the job describes its only output itself.
    let outputs: YAMLNode.Entry?
    /// What is merged under every output.
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

    /// A job with the tracks that defaults say under each of its outputs: in the job itself `outputs` would exclude them.
    static func withRules(of defaults: YAMLNode, in job: YAMLNode) -> YAMLNode {
        guard case .mapping(let below) = defaults.content, case .mapping(let entries) = job.content,
            let outputs = entries.first(where: { $0.key == "outputs" }),
            case .mapping(let items) = outputs.value.content
        else { return job }
        let rules = below.filter { ["tracks", "export", "images", "waveform"].contains($0.key) }
        guard !rules.isEmpty else { return job }
        let under = YAMLNode(.mapping(rules), at: defaults.range)
        let merged = items.map { item in
            YAMLNode.Entry(
                key: item.key, keyRange: item.keyRange,
                value: NodeMerge.merge(item.value, over: under, as: Language.output))
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

    /// The job with everything in it, to see which keys it has.
    func whole(of job: YAMLNode) -> YAMLNode {
        guard let outputs, case .mapping(let entries) = job.content else { return job }
        return YAMLNode(.mapping(entries + shared + [outputs]), at: job.range)
    }

    /// An output as it is written, with what all outputs have under it.
    func output(_ written: YAMLNode) -> YAMLNode {
        NodeMerge.merge(written, over: YAMLNode(.mapping(shared), at: written.range), as: Language.output)
    }
}
