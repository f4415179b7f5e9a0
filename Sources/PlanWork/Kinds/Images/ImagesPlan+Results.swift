internal import JobPlan
internal import Media

extension ImagesPlan {
    /// Returns the images of a written file for the report. Their times are relative to time zero of the source; without
    /// ranges, output times equal source times.
    func results(of written: [WrittenFile]) -> [OutputResult.Image] {
        written.flatMap { file in
            zip(stills, file.findings.imageTimes).map { image, actual in
                let isRanged = !file.task.input.extent.ranges.isEmpty
                return OutputResult.Image(
                    requested: isRanged ? image.sourceTime : image.time, actual: actual,
                    path: image.destination)
            }
        }
    }
}
