internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import JobSpec
internal import Publishing

/// The check of a single destination: it must be beneath the root, writable, and not occupied by a file of another
/// owner.
struct DestinationCheck {
    let memory: any PlanMemory
    let root: PathRoot
    let disk: any DiskQueries
    /// The check that reports destinations that are sources. These are not reported as existing in addition.
    let overwrites: SourceOverwriteCheck

    /// Reports the errors of a destination of a job file.
    func check(
        _ destination: DestinationPath, as written: DestinationSpec, of file: String,
        kind: DestinationPath.Kind,
        into sink: inout DiagnosticSink
    ) {
        let location = written.path.range
        let owner = memory.owner(ofFile: file, at: destination.path)
        if !root.contains(destination.path) {
            sink.error(
                .destinationUnwritable,
                "the destination \(destination.path) is outside of the `--root` \(root.path ?? "")",
                at: location)
            return
        }
        if destination.path.pathParts.dropLast().contains(".tandem") {
            sink.error(
                .destinationUnwritable,
                "the destination \(destination.path) is inside a `.tandem` folder, which is reserved for the state of job files",
                at: location)
            return
        }
        switch disk.occupant(of: destination.path, owner: owner, kind: kind) {
        case .nothing, .published: break
        case .wrongKind:
            sink.error(
                .destinationExists,
                "the destination \(destination.path) is not a \(kind == .file ? "regular file" : "folder")",
                at: location)
        case .foreign where kind == .folder && !disk.isMarked(destination.path):
            // `if_exists: replace` must not remove a folder of other files.
            guard written.ifExists != .skip, !memory.owns(destination.path, for: file) else { break }
            sink.error(
                .destinationExists,
                "the folder \(destination.path) exists, and Tandem did not publish it; a package needs a folder of its own",
                at: location)
        case .foreign:
            // A file that another job file published may equal the requested output; `checkOwner` decides once the
            // plan is known.
            if disk.mark(at: destination.path) == nil {
                refuse(destination, written, of: file, into: &sink)
            }
        }
        if !destination.missing.dropLast().isEmpty, !written.makesDirectories {
            sink.error(
                .destinationUnwritable,
                "the folder \(destination.folder) doesn't exist, and `make_directories` is false",
                at: location)
        } else if !disk.isWritable(destination.existingFolder) {
            sink.error(
                .destinationUnwritable, "the folder \(destination.existingFolder) is not writable",
                at: location
            )
        }
    }

    /// Reports an error if another job file published the destination, unless with the same plan.
    func checkOwner(
        of task: OutputTask, at destination: DestinationPath, as written: DestinationSpec,
        into sink: inout DiagnosticSink
    ) {
        let owner = memory.owner(ofFile: task.file, at: destination.path)
        guard let owner, let mark = disk.mark(at: destination.path), mark.owner != owner,
            !memory.wasCreated(by: task)
        else { return }
        refuse(destination, written, of: task.file, into: &sink)
    }

    private func refuse(
        _ destination: DestinationPath, _ written: DestinationSpec, of file: String,
        into sink: inout DiagnosticSink
    ) {
        guard written.ifExists == .fail, !memory.owns(destination.path, for: file),
            !overwrites.reports(destination.path)
        else { return }
        sink.error(
            .destinationExists,
            "\(DestinationPath.foreign(at: destination.path, on: disk)): \(destination.path)",
            at: written.path.range,
            help:
                "`destination: { path: …, if_exists: replace }` replaces it, `skip` keeps it; `tandem accept` makes it the job's output"
        )
    }
}
