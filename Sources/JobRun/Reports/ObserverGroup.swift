package import JobPlan

/// Tells several observers.
package struct ObserverGroup: RunObserver {
    private let observers: [any RunObserver]

    /// Of these, in this order.
    package init(_ observers: [any RunObserver]) { self.observers = observers }

    /// See `RunObserver`.
    package func jobStarted(_ plan: JobPlan) { for observer in observers { observer.jobStarted(plan) } }

    /// See `RunObserver`.
    package func jobFinished(_ record: JobRecord) {
        for observer in observers { observer.jobFinished(record) }
    }
}
