internal import Diagnostics
internal import Synchronization

/// The builder that receives batches of events on a queue and passes them to a `NodeAssembly`.
///
/// Unchecked `Sendable`: accessed on one queue at a time, which the parser ensures.
final class NodeBuilder: @unchecked Sendable {
    /// Number of batches that are not processed yet.
    let waiting = Atomic<Int>(0)
    private var assembly: NodeAssembly

    /// Creates a builder of a file's nodes.
    init(source: SourceFile, limits: YAMLLimits) { assembly = NodeAssembly(source: source, limits: limits) }

    /// Processes the next events.
    func take(_ batch: YAMLEventBatch) { assembly.take(batch) }

    /// Problems found so far.
    var sink: DiagnosticSink { assembly.sink }
    /// Root of the document, once it was read.
    var root: YAMLNode? { assembly.root }
    /// Texts that contain `${`.
    var substituted: [String] { assembly.substituted }
    /// Whether an error has occurred after which reading can't continue.
    var hasStopped: Bool { assembly.hasStopped }
}
