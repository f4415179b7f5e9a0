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

    /// Name in messages, reports and the state: the job's id, followed by `/` and the output's id if it has
    /// one. No job's id has this form: an id with a `/` ends with `]`.
    package var name: String { Self.name(of: Self.name(job: job, output: output.id), part: part) }

    /// Returns the name of an output, given the name of one of its files.
    package static func whole(_ name: String) -> String {
        numbered(name).map { String($0.whole) } ?? name
    }

    /// Returns the index of a file in its output, given its name.
    package static func part(of name: String) -> Int { numbered(name).map { $0.number - 1 } ?? 0 }

    private static func numbered(_ name: String) -> (whole: Substring, number: Int)? {
        guard let mark = name.lastIndex(of: "#") else { return nil }
        let number = name[mark...].dropFirst()
        guard number.allSatisfy(\.isWholeNumber), let number = Int(number), number > 0 else { return nil }
        return (name[..<mark], number)
    }

    /// Returns the name of an output's file. The first file has the output's name.
    package static func name(of output: String, part: Int) -> String {
        part == 0 ? output : "\(output)#\(part + 1)"
    }

    package static func name(job: String, output: String?) -> String {
        output.map { "\(job)/\($0)" } ?? job
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
