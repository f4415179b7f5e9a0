internal import ArgumentParser
internal import JobSpec

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema (draft-07) of job files.")

    func run() { Terminal.print(SchemaGenerator.schema()) }
}
