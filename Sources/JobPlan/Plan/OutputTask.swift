package import Media

/// One output of a job and what it is made of: what is verified, judged, published and remembered by itself.
package struct OutputTask: Codable, Hashable, Sendable {
    /// The job's id.
    package var job: String
    /// The job file as the user named it.
    package var file: String
    /// What it is made of.
    package var input: InputPlan
    /// What is made.
    package var output: OutputPlan
    /// Which of its files is meant, from 0; no part of what is written of it.
    package var part = 0

    private enum CodingKeys: CodingKey {
        case job, file, input, output
    }

    /// Its name in messages, reports and the state: the job's, and behind a `/` its own where it has one. No job's id ends
    /// so: one with a `/` ends with `]`.
    package var name: String { Self.name(of: Self.name(job: job, output: output.id), part: part) }

    /// The name of the output that a file's name is of.
    package static func whole(_ name: String) -> String {
        numbered(name).map { String($0.whole) } ?? name
    }

    /// Which of an output's files a file's name means.
    package static func part(of name: String) -> Int { numbered(name).map { $0.number - 1 } ?? 0 }

    private static func numbered(_ name: String) -> (whole: Substring, number: Int)? {
        guard let mark = name.lastIndex(of: "#") else { return nil }
        let number = name[mark...].dropFirst()
        guard number.allSatisfy(\.isWholeNumber), let number = Int(number), number > 0 else { return nil }
        return (name[..<mark], number)
    }

    /// The name of a file of an output, of the one that has the output's own name the first.
    package static func name(of output: String, part: Int) -> String {
        part == 0 ? output : "\(output)#\(part + 1)"
    }

    /// The name of an output of a job.
    package static func name(job: String, output: String?) -> String {
        output.map { "\(job)/\($0)" } ?? job
    }

    /// The task of an output that ended early because it was full: what of it is read, and its chapters.
    package func stopped(at end: MediaTime?) -> OutputTask {
        guard let end else { return self }
        var task = self
        task.output.chapters = output.chapters.ending(at: end)
        task.input.joinedRanges = input.joinedRanges.isEmpty ? [] : input.joinedRanges.prefix(lasting: end)
        task.input.range = (input.range ?? TimeRange(start: .zero, duration: output.expectedDuration))
            .prefix(lasting: end)
        return task
    }
}
