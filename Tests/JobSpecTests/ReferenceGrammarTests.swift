@testable internal import JobSpec
internal import Testing

/// The parsers accept the examples in the reference.
@Suite struct ReferenceGrammarTests {
    @Test func timesAreParsed() {
        for (text, _) in ReferenceGrammar.times { #expect(TimeExpression(text) != nil, "\(text)") }
    }

    @Test func quantitiesAreParsed() {
        for (kind, text, _) in ReferenceGrammar.quantities {
            switch kind {
            case "bit rate": #expect(Language.bitRate.parse(text) != nil, "\(text)")
            case "size in bytes": #expect(Language.byteSize.parse(text) != nil, "\(text)")
            case "frequency": #expect(Language.sampleRate.parse(text) == 44_100, "\(text)")
            case "frame rate": #expect(Language.frameRate.parse(text) != nil, "\(text)")
            case "dimensions": #expect(Language.dimensions.parse(text) != nil, "\(text)")
            case "decibels": #expect(Language.gain.parse(text) != nil, "\(text)")
            default: Issue.record("no parser for a \(kind)")
            }
        }
        #expect(
            Language.byteSize.parse("50MB") == 50_000_000 && Language.byteSize.parse("50MiB") == 52_428_800)
        #expect(Language.frameRate.parse("29.97") == Language.frameRate.parse("30000/1001"))
    }

    @Test func documentedVariablesEqualThoseInScope() {
        var scope = Scope()
        scope.variables = ["name": Scope.Value(text: "")]
        scope.matrix = [("key", Scope.Value(text: ""))]
        (scope.job, scope.index, scope.output) = ("job", 1, "hd")
        scope.asset = AssetProperties(id: "a", path: "a")
        scope.track = .unknown
        #expect(Set(ReferenceGrammar.variables.map(\.0)) == Set(scope.names + ["env.NAME"]))
    }
}
