import Diagnostics
import TestSupport
import Testing
import YAMLDocument

@testable import JobSpec

/// The check of a destination's text, before substitution.
@Suite struct DestinationCheckTests {
    /// Returns the problems of a destination, as the text at each location and the message.
    private func problems(
        _ destination: String, _ variables: [String: String] = [:], makesImages: Bool = false
    ) throws -> [String] { try findings(destination, variables, makesImages: makesImages).map(\.problem) }

    private func findings(
        _ destination: String, _ variables: [String: String] = [:], makesImages: Bool = false
    ) throws -> [(problem: String, help: String?)] {
        let yaml = "destination: \(destination)\n"
        var sink = DiagnosticSink()
        let node = try #require(YAMLParser.parse(Array(yaml.utf8), file: "jobs.yaml", into: &sink))
        #expect(!sink.hasErrors, "\(rendered(sink, yaml))")
        var scope = Scope(variables: variables.mapValues { Scope.Value(text: $0) })
        scope.makesImages = makesImages
        scope.environment = ["OUT": "gs://bucket"]
        scope.matrix = [("bucket", Scope.Value(text: "s3://bucket"))]
        let reader = NodeReader()
        DestinationCheck(scope: scope, reader: reader).check(node, as: Language.job)
        let line = yaml.split(separator: "\n")[0]
        return reader.sink.diagnostics.map {
            #expect($0.rule == .invalidValue && $0.severity == .error)
            let text = line.prefix($0.range.endColumn - 1).dropFirst($0.range.column - 1)
            return ("\(text): \($0.message)", $0.help)
        }
    }

    @Test(arguments: [
        "out/a.mp4", "\"${asset.stem}.mp4\"", "\"${job}-${index}.mp4\"", "\"$${x}.mp4\"", "./~a.mp4",
        "a~.mp4",
        "\"a:b://c.mp4\"", "\"1://a.mp4\"", "\"100%done.mp4\"", "\"50%.mp4\"", "\"%s.mp4\"", "\"{a}.mp4\"",
        "\"a{{b.mp4\"", "\"$5.mp4\"", "\"a$.mp4\"", "\"$\"", "\"\"", "null", "{ path: a.mp4 }", "{ }",
        "[ a.mp4 ]",
    ])
    func destination_withoutForeignSyntax_isAccepted(_ destination: String) throws {
        #expect(try problems(destination) == [])
    }

    @Test(arguments: [
        ("~/a.mp4", "~: a destination can't start with `~`, which is not expanded"),
        ("\"~user/a.mp4\"", "~user: a destination can't start with `~`, which is not expanded"),
        ("s3://bucket/a.mp4", "s3://: a destination must be a local path, not a URL"),
        ("{ path: \"file:///a.mp4\" }", "file://: a destination must be a local path, not a URL"),
        ("\"{{name}}.mp4\"", "{{name}}: `{{name}}` is not expanded in a destination"),
        ("\"x{{ a b }}.mp4\"", "{{ a b }}: `{{ab}}` is not expanded in a destination"),
        ("\"{asset.stem}.mp4\"", "{asset.stem}: `{asset.stem}` is not expanded in a destination"),
        ("\"a-%03d.png\"", "%03d: `%03d` is not expanded in a destination"),
        ("\"a-%d.png\"", "%d: `%d` is not expanded in a destination"),
        ("\"$name.mp4\"", "$name: `$name` is not expanded in a destination"),
        ("\"a-$(date).mp4\"", "$(: `$(…)` is not expanded in a destination"),
    ])
    func destination_withForeignSyntax_isRefused(_ destination: String, _ problem: String) throws {
        #expect(try problems(destination) == [problem])
    }

    /// Help shows the syntax of job files with the name that is written.
    @Test(arguments: [
        ("\"$HOME/a.mp4\"", "write `${env.HOME}`"), ("\"$name.mp4\"", "write `${name}`"),
        ("\"{{ asset.stem }}.mp4\"", "write `${asset.stem}`"),
        ("\"{{a|b}}.mp4\"", "write a variable as `${name}`"),
        ("FILE:///a.mp4", "write only the path, without `FILE://`"),
        ("s3://a.mp4", "write it to a local path, and upload it after the run"),
    ])
    func problem_hasHelp(_ destination: String, _ help: String) throws {
        #expect(try findings(destination).map(\.help) == [help])
    }

    /// Each problem is reported at its own location, in the order of the kinds.
    @Test func severalProblems_areReportedTogether() throws {
        #expect(
            try problems("\"~/${job}/$a{{b}}%2d$c.mp4\"") == [
                "~: a destination can't start with `~`, which is not expanded",
                "$a: `$a` is not expanded in a destination",
                "{{b}}: `{{b}}` is not expanded in a destination",
                "%2d: `%2d` is not expanded in a destination", "$c: `$c` is not expanded in a destination",
            ])
    }

    /// The files of `images` are numbered by their own check.
    @Test func numbers_ofImages_areLeftToTheirCheck() throws {
        #expect(try problems("\"s-%03d.png\"", makesImages: true) == [])
        #expect(try problems("\"~s-%03d.png\"", makesImages: true).count == 1)
    }

    /// Variables are checked as if their text were written, at the location of the reference.
    @Test func variables_areChecked() throws {
        let variables = [
            "home": "~/out", "url": "s3://bucket", "empty": "", "plain": "out", "shell": "$name",
        ]
        #expect(
            try problems("\"${home}/a.mp4\"", variables) == [
                "${home}: a destination can't start with `~`, which is not expanded"
            ])
        #expect(
            try problems("\"${empty}${url}/a.mp4\"", variables) == [
                "${url}: a destination must be a local path, not a URL"
            ])
        #expect(
            try problems("\"${plain}/${home}/${shell}.mp4\"", variables) == [
                "${shell}: `$name` is not expanded in a destination"
            ])
        // An unknown name may have any value, such as the name of a source.
        #expect(try problems("\"${asset.stem}~.mp4\"", variables) == [])
        #expect(try problems("\"${unknown\"", variables) == [])
    }

    /// A scheme that several values compose is reported where it is complete.
    @Test(arguments: [
        ("${s}://bucket/a.mp4", "${s}://"), ("${matrix.bucket}/a.mp4", "${matrix.bucket}"),
        ("${env.OUT}/a.mp4", "${env.OUT}"), ("${missing:-gs://b}/a.mp4", "${missing:-gs://b}"),
        ("${s}${separator}b/a.mp4", "${separator}"), ("s${empty}3://b/a.mp4", "s${empty}3://"),
        ("${long}${separator}b/a.mp4", "${separator}"),
        ("${s}:${slashes}b/a.mp4", "${slashes}"),
    ])
    func schemes_areDetectedAfterSubstitution(_ destination: String, _ location: String) throws {
        #expect(
            try problems(
                "\"\(destination)\"",
                [
                    "s": "s3", "separator": "://", "slashes": "//", "empty": "",
                    "long": String(repeating: "x", count: 70),
                ]) == [
                    "\(location): a destination must be a local path, not a URL"
                ])
    }

    @Test(arguments: [
        "${s}:/a.mp4", "out/${matrix.bucket}/a.mp4", "${asset.stem}://a.mp4", "$${s}://a.mp4",
        "${empty}://a.mp4",
    ])
    func otherColons_areAccepted(_ destination: String) throws {
        #expect(try problems("\"\(destination)\"", ["s": "s3", "empty": ""]) == [])
    }
}
