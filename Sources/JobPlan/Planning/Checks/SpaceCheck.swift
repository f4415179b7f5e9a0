internal import Diagnostics
internal import LibAV
internal import Publishing

/// The check whether each file system has space for its outputs together, as far as their sizes are predicted.
struct SpaceCheck {
    private struct Need {
        var bytes: Int64 = 0
        /// The last of the file system's destinations.
        var path: DestinationPath
        /// Location of its first destination.
        let location: SourceRange
    }

    /// Returns a warning for each file system with less free space than its outputs need.
    static func warnings(
        _ plans: [JobPlan], _ destinations: inout DestinationTable, on disk: any DiskQueries
    ) -> DiagnosticSink {
        var needs: [UInt64: Need] = [:]
        for output in plans.flatMap(\.outputs) {
            guard let size = output.expectedSize, let destination = output.destination,
                let path = destinations.resolve(destination)
            else { continue }
            var need =
                needs[path.fileSystem] ?? Need(path: path, location: output.destinationLocation)
            (need.bytes, need.path) = (need.bytes.adding(upToLimit: size), path)
            needs[path.fileSystem] = need
        }
        var sink = DiagnosticSink()
        for need in needs.values.sorted(by: { $0.location < $1.location }) {
            guard let free = disk.freeSpace(in: need.path.existingFolder), need.bytes > free else { continue }
            sink.warning(
                .lowSpace,
                "the estimated size of the outputs is \(PlanText.bytes(need.bytes)), but only \(PlanText.bytes(free)) are free in \(need.path.folder)",
                at: need.location)
        }
        return sink
    }
}
