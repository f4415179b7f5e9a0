import Diagnostics
import TestSupport
import Testing

@testable import JobSpec

/// The combinations of a matrix with `exclude` and `include`, and the ids of job instances.
@Suite struct MatrixRowTests {
    private func ids(_ matrix: String) -> [String] {
        let keys = ["a", "b"].filter { matrix.contains("\($0):") }.map { "${matrix.\($0)}" }
        let (file, sink) = decode(
            """
            version: 1
            jobs:
              j:
                asset: ./a.mp4
                matrix: \(matrix)
                tracks: [ { video: first, encode: { codec: h264 } } ]
                destination: "./\(keys.joined(separator: "-"))-${index}.mp4"
            """)
        return sink.hasErrors ? sink.diagnostics.map(\.message) : file?.jobs.map(\.id.value) ?? []
    }

    @Test func rowsAreAddedToCombinations() {
        #expect(
            ids(
                "{ a: [1, 2], b: [x, y], exclude: [ { a: 1, b: y }, { a: 2, b: x } ], include: [ { b: z, a: 3 } ] }"
            )
                == ["j[a=1,b=x]", "j[a=2,b=y]", "j[a=3,b=z]"])
        #expect(ids("{ a: [1, 2], b: [x, y], exclude: [ { b: x } ] }") == ["j[a=1,b=y]", "j[a=2,b=y]"])
        #expect(ids("{ include: [ { a: 1, b: x }, { a: 2, b: x } ] }") == ["j[a=1,b=x]", "j[a=2,b=x]"])
        #expect(
            ids("{ a: [1, 2], include: [ { a: 2 } ] }") == [
                "the row equals another combination of the matrix"
            ])
    }

    /// Numbers of rows beyond the limits are refused before the rows are compared.
    @Test func numbersOfRowsAreLimited() {
        let rows = { (count: Int) in (0..<count).map { "{ a: \($0) }" }.joined(separator: ", ") }
        #expect(ids("{ include: [ \(rows(10_001)) ] }") == ["the matrix has more than 10000 combinations"])
        #expect(ids("{ a: [0, 1], exclude: [ \(rows(1001)) ] }") == ["`exclude` has more than 1000 entries"])
    }

    @Test(arguments: [
        ("x y", "x y"), ("", ""), ("a,b", "a%2Cb"), ("a=b", "a%3Db"), ("a/b]", "a%2Fb%5D"), ("50%", "50%"),
        ("%2C", "%252C"), ("%2", "%2"), ("a\nb", "a%0Ab"), ("é\u{2028}", "é%E2%80%A8"), ("[#", "[#"),
    ])
    func delimitersAreEncodedInIds(_ value: String, _ encoded: String) {
        #expect(InstanceName.encoded(value) == encoded)
    }

    /// Different values have different encodings, without delimiters.
    @Test func encodingsAreDistinct() {
        let parts = ["%", "2", "C", ",", "]", "5", "D", "/", "="]
        var seen: [String: String] = [:]
        for a in parts {
            for b in parts {
                for c in parts {
                    for d in ["", "2", "C", "%"] {
                        let value = a + b + c + d
                        let encoded = InstanceName.encoded(value)
                        #expect(!encoded.contains { ",]=/".contains($0) })
                        #expect(seen.updateValue(value, forKey: encoded) == nil, "\(value)")
                    }
                }
            }
        }
    }
}
