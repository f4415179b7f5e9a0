internal import ArgumentParser
internal import Engine
internal import JobSpec

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (draft-07) of job files, or the reference.")

    @Flag(help: "Print the reference of the job language as Markdown.")
    var reference = false

    func run() {
        Terminal.print(
            reference
                ? ReferenceGenerator.reference(statuses: RunStatus.reference) : SchemaGenerator.schema())
    }
}
