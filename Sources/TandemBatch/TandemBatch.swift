// Re-exports the media library, and the public modules of job files, plans and runs.
@_exported public import Diagnostics
@_exported public import JobPlan
@_exported public import JobRun
@_exported public import PlanWork
@_exported public import TandemKit
