package import Diagnostics
internal import YAMLDocument

/// An index of the jobs of a file by location.
package struct JobLocations: Sendable {
    private let jobs: [(id: Located<String>, node: SourceRange)]

    package init(_ file: JobFile) {
        jobs = file.definition.bases.map { ($0.id, $0.node.range) }.sorted { $0.id.range < $1.id.range }
    }

    /// Returns the id of the job whose key or value contains a location, including text that an alias or named
    /// settings insert there; nil outside of jobs.
    package func job(at location: SourceRange) -> String? {
        var (low, high) = (0, jobs.count)
        while low < high {
            let middle = (low + high) / 2
            let first = jobs[middle].id.range
            if first.source == location.source, (first.line, first.column) <= (location.line, location.column)
            {
                low = middle + 1
            } else if first.source != location.source, first < location {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low > 0 else { return nil }
        let (id, node) = jobs[low - 1]
        let isWithin =
            id.range.source == location.source
            && (location.line, location.column) <= (max(node.endLine, id.range.endLine), Int.max)
        return isWithin ? id.value : nil
    }
}
