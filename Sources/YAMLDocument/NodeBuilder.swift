internal import Diagnostics
internal import Synchronization

/// Takes batches of events on a queue and hands them to a `NodeAssembly`.
///
/// Unchecked `Sendable`: touched by one queue at a time, which its parser sees to.
final class NodeBuilder: @unchecked Sendable {
    /// Batches on their way here.
    let waiting = Atomic<Int>(0)
    private var assembly: NodeAssembly

    /// Makes nodes of a file's places.
    init(source: SourceFile, limits: YAMLLimits) { assembly = NodeAssembly(source: source, limits: limits) }

    /// Takes the next events.
    func take(_ batch: YAMLEventBatch) { assembly.take(batch) }

    /// What was found wrong.
    var sink: DiagnosticSink { assembly.sink }
    /// The document, once it was read.
    var root: YAMLNode? { assembly.root }
    /// The texts with `${` in them.
    var substituted: [String] { assembly.substituted }
    /// Something was wrong that leaves nothing to go on with.
    var hasStopped: Bool { assembly.hasStopped }
}
