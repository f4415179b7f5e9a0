package import Diagnostics
package import FileSystem
package import JobSpec
internal import LibAV
package import Publishing

/// The files that the jobs of some job files name: destinations and sources. Patterns are expanded; no source is opened.
package struct JobPaths {
    /// Destinations, including the index of each sheet.
    package private(set) var destinations: Set<DestinationPath> = []
    /// Outputs whose file names or whose number depend on their sources, by their names before a division.
    package private(set) var variableOutputs: Set<OutputKey> = []
    /// Local sources that exist.
    package let sources: [FileIdentity]
    /// Diagnostics of expanding patterns.
    package let problems: DiagnosticSink

    /// Collects the paths of some files beneath a root.
    package init(_ files: [JobFile], beneath root: PathRoot, disk: any DiskQueries = SystemDisk()) {
        var sink = DiagnosticSink()
        let expanded = files.map { $0.expanded(into: &sink, beneath: root, on: disk) }
        var finder = SourceFinder(beneath: root, on: disk)
        sources = finder.files(of: expanded).compactMap { disk.identity(of: $0.path) }
        problems = sink
        var table = DestinationTable(on: disk)
        for file in expanded {
            for job in file.jobs {
                for output in job.outputs { add(output, of: job, in: file, &table) }
            }
        }
    }

    private mutating func add(
        _ output: OutputSpec, of job: JobSpec, in file: JobFile, _ table: inout DestinationTable
    ) {
        if output.hasVariableFileCount {
            let name = OutputName(job: job.id.value, output: output.undividedName)
            variableOutputs.insert(OutputKey(file: file.path, id: name.description))
        }
        if output.isUndivided { return }
        guard let written = output.destination?.path,
            let path = table.resolve(file.absolutePath(written))
        else { return }
        destinations.insert(path)
        if let companion = output.companionExtension {
            destinations.insert(path.sibling("\(path.stem).\(companion)"))
        }
    }
}
