internal import Diagnostics
internal import JobSpec

/// The files of an image output whose names depend on its source. A sheet's destination is in the job file, so it isn't
/// included.
struct ImageOutputFiles {
    let job: JobKey
    /// Name of the output.
    let name: String
    /// Location of the output's destination.
    let location: SourceRange
    /// Absolute paths.
    let paths: [String]

    /// Returns the files of all outputs that are planned or up to date.
    static func all(_ planned: PlannedJobs, of files: [JobFile]) -> [ImageOutputFiles] {
        let ahead = planned.plans.flatMap(\.tasks).filter(\.output.hasSeveralFiles).map { task in
            let paths = task.output.files
            return ImageOutputFiles(
                job: task.jobKey, name: task.name,
                location: task.output.destinationLocation,
                paths: task.output.images?.sheet == nil ? paths : Array(paths.dropFirst()))
        }
        let kept = planned.upToDate.flatMap { job, entry in
            job.outputs.compactMap { output -> ImageOutputFiles? in
                guard let spec = files[entry.file].jobs[entry.job].output(output.id),
                    let location = spec.destination?.path.range,
                    spec.namesEachImage || output.others != nil
                else { return nil }
                return ImageOutputFiles(
                    job: job.key,
                    name: OutputName(job: job.id, output: output.id).description, location: location,
                    paths: spec.namesEachImage ? output.files : output.others ?? [])
            }
        }
        return ahead + kept.sorted { $0.location < $1.location }
    }
}
