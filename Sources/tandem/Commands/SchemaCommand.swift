internal import ArgumentParser
internal import JobSpec

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema (draft-07) of job files, or the reference.")

    @Flag(help: "Prints the reference of the job language as Markdown instead.")
    var reference = false

    func run() { Terminal.print(reference ? ReferenceGenerator.reference() : SchemaGenerator.schema()) }
}
