internal import JobSpec
package import Media

/// One output of a job with its input: the unit that is verified, evaluated, published and recorded.
package struct OutputTask: Codable, Hashable, Sendable {
    /// Id of the job instance.
    @Annotation package var job: String
    /// Path of the job file, as given by the user.
    @Annotation package var file: String
    package var input: InputPlan
    package var output: OutputPlan
    /// Index of the file in the output, from 0. Not encoded.
    package var part = 0

    private enum CodingKeys: CodingKey {
        case job, file, input, output
    }

    /// Returns what the value at a path in the encoded form belongs to.
    static func subject(of path: ArraySlice<String>) -> RecipeName.Subject {
        switch path.first.flatMap(CodingKeys.init(stringValue:)) {
        case .input: InputPlan.subject(of: path.dropFirst())
        case .output: OutputPlan.subject(of: path.dropFirst())
        case .job, .file, nil: .other
        }
    }

    /// Name in messages, reports and the state; see `OutputName`.
    package var name: String { OutputName(job: job, output: output.id, part: part).description }
    /// Key of the output, or of a further file of it.
    package var key: OutputKey { OutputKey(file: file, id: name) }
    /// Key of the output's job instance.
    package var jobKey: JobKey { JobKey(file: file, id: job) }

    /// Whether duration and frame count are predicted exactly: no track is estimated, a size limit doesn't end the output
    /// early, and no damaged data is omitted.
    var isPredictedExactly: Bool {
        input.damagePolicy == .fail && output.media?.sizeLimit == nil
            && output.tracks.allSatisfy(\.expected.isExact)
    }

    /// Returns the task of an output that ended early at its size limit, with the range that was read and the
    /// chapters up to the end.
    package func stopped(at end: MediaTime?) -> OutputTask {
        guard let end else { return self }
        var task = self
        task.output.media?.chapters = output.chapters.ending(at: end)
        task.input.joinedRanges = input.joinedRanges.isEmpty ? [] : input.joinedRanges.prefix(lasting: end)
        task.input.range = (input.range ?? TimeRange(start: .zero, duration: output.expectedDuration))
            .prefix(lasting: end)
        return task
    }
}
