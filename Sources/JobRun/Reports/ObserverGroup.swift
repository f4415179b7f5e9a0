public import JobPlan

/// Tells several observers.
public struct ObserverGroup: RunObserver {
    private let observers: [any RunObserver]

    /// Of these, in this order.
    public init(_ observers: [any RunObserver]) { self.observers = observers }

    /// See `RunObserver`.
    public func jobStarted(_ plan: JobPlan) { for observer in observers { observer.jobStarted(plan) } }

    /// See `RunObserver`.
    public func jobFinished(_ record: JobRecord) {
        for observer in observers { observer.jobFinished(record) }
    }
}
