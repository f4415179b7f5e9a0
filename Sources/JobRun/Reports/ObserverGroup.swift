package import JobPlan

/// A run observer that forwards events to other observers.
package struct ObserverGroup: RunObserver {
    private let observers: [any RunObserver]

    /// Creates a group that calls `observers` in order.
    package init(_ observers: [any RunObserver]) { self.observers = observers }

    package func jobStarted(_ plan: JobPlan) { for observer in observers { observer.jobStarted(plan) } }

    package func jobFinished(_ record: JobRecord) {
        for observer in observers { observer.jobFinished(record) }
    }
}
