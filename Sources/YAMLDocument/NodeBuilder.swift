internal import Diagnostics
internal import Synchronization

/// A builder that receives batches of events on a queue and passes them to a `NodeAssembly`.
///
/// Unchecked `Sendable`: the parser ensures that only one thread at a time accesses it.
final class NodeBuilder: @unchecked Sendable {
    /// Number of batches that were sent and not processed yet.
    let waiting = Atomic<Int>(0)
    private var assembly: NodeAssembly

    init(source: SourceFile, limits: YAMLLimits) { assembly = NodeAssembly(source: source, limits: limits) }

    func take(_ batch: YAMLEventBatch) { assembly.take(batch) }

    var sink: DiagnosticSink { assembly.sink }
    var root: YAMLNode? { assembly.root }
    var substituted: [String] { assembly.substituted }
    var hasStopped: Bool { assembly.hasStopped }
}
