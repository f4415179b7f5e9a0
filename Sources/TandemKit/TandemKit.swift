// Re-exports all public modules of the library.
@_exported public import Errors
@_exported public import FileSystem
@_exported public import JobSpec
@_exported public import LibAV
@_exported public import Media
@_exported public import Publishing
