// Outcomes, failures and work orders are part of this module's interface.
@_exported public import PlanWork
