import BinaryCoding
import Foundation
import Testing

/// Tests round trips of `BinaryEncoder` and `BinaryDecoder`, and errors for malformed and hostile bytes.
@Suite struct BinaryCodingTests {
    private enum Kind: String, Codable { case plain, fancy }

    private enum Choice: Codable, Hashable {
        case nothing
        case one(Int)
        case named(first: String, second: [Int?])
        indirect case both(Choice, Choice)
    }

    private struct Inner: Codable, Hashable {
        enum CodingKeys: CodingKey { case text, maybe, list }
        var text = "é\u{0}\"\n"
        var maybe: Double?
        var list: [String] = []
    }

    private struct Empty: Codable, Hashable {}

    private struct Outer: Codable, Hashable {
        var flags = [true, false]
        var small: Int8 = .min
        var smallest = Int64.min
        var greatest = UInt64.max
        var byte: UInt8 = 255
        var half = -0.5
        var single: Float = 1.25
        var kind = Kind.fancy
        var choices: [Choice] = [
            .nothing, .one(-1), .named(first: "", second: [1, nil, 3]), .both(.one(1), .nothing),
        ]
        var inner = Inner(maybe: 1e300, list: ["a", "b"])
        var none: Inner?
        var some: Inner? = Inner()
        var empty = Empty()
        var table = ["x": 1, "y": 2]
        var nested = [[1], [], [2, 3]]
        var data = Data([0, 128, 255])
    }

    @Test func encodedValuesRoundTrip() throws {
        let value = Outer()
        let bytes = try BinaryEncoder().encode(value)
        #expect(try BinaryDecoder().decode(Outer.self, from: bytes) == value)
        #expect(bytes.count < (try JSONEncoder().encode(value)).count)
        for number in [0, 1, 127, 128, -1, -128, Int.max, Int.min] {
            #expect(try BinaryDecoder().decode(Int.self, from: BinaryEncoder().encode(number)) == number)
        }
        for choice in value.choices {
            #expect(try BinaryDecoder().decode(Choice.self, from: BinaryEncoder().encode(choice)) == choice)
        }
    }

    /// Tests decoding a type whose members differ in order and number from those of the encoded type.
    @Test func membersAreMatchedByKey() throws {
        struct Reordered: Codable, Hashable {
            var list: [String]
            var added: Int?
            var text: String
        }
        let bytes = try BinaryEncoder().encode(Inner(text: "t", maybe: 2, list: ["l"]))
        let reordered = try BinaryDecoder().decode(Reordered.self, from: bytes)
        #expect(reordered == Reordered(list: ["l"], added: nil, text: "t"))
        #expect(throws: DecodingError.self) { try BinaryDecoder().decode(Outer.self, from: bytes) }
        #expect(throws: DecodingError.self) { try BinaryDecoder().decode([Int].self, from: bytes) }
    }

    @Test func nanAndIntegersOutOfRangeAreErrors() throws {
        #expect(throws: EncodingError.self) { try BinaryEncoder().encode(Double.nan) }
        var bytes = try BinaryEncoder().encode(1.0)
        bytes.replaceSubrange(bytes.count - 8..<bytes.count, with: Array(repeating: 255, count: 8))
        #expect(throws: DecodingError.self) { try BinaryDecoder().decode(Double.self, from: bytes) }
        let great = try BinaryEncoder().encode(Int.max)
        #expect(throws: DecodingError.self) { try BinaryDecoder().decode(Int32.self, from: great) }
        let below = try BinaryEncoder().encode(-1)
        #expect(throws: DecodingError.self) { try BinaryDecoder().decode(UInt.self, from: below) }
    }

    /// Tests that encoding a value that could not be decoded throws an error.
    @Test func valuesThatCantBeDecodedAreNotEncoded() throws {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var first = encoder.container(keyedBy: Inner.CodingKeys.self)
                try first.encode("t", forKey: .text)
                try Inner().encode(to: encoder)
            }
        }
        struct InTurns: Encodable {
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Inner.CodingKeys.self)
                var first = outer.nestedUnkeyedContainer(forKey: .text)
                _ = outer.nestedUnkeyedContainer(forKey: .list)
                try first.encode(1)
            }
        }
        struct Swallowed: Encodable {
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Inner.CodingKeys.self)
                try? outer.encode(Double.nan, forKey: .maybe)
            }
        }
        let many = Dictionary(uniqueKeysWithValues: (0...4096).map { ("\($0)", 0) })
        let values: [any Encodable] = [
            Twice(), InTurns(), Swallowed(), many, ["é": 1], [String(repeating: "x", count: 257): 1],
        ]
        for value in values {
            #expect(throws: EncodingError.self) { try BinaryEncoder().encode(value) }
        }
    }

    /// Tests limits on the number and length of keys, and that duplicates are rejected. Nothing is allocated beyond the
    /// limits.
    @Test func tooManyLongOrDuplicateKeysAreErrors() {
        for keys in [[UInt8]](
            arrayLiteral: [0x81, 0x20] + Array(repeating: 0, count: 4097), [2, 1, 0x61, 1, 0x61],
            [1, 0x81, 0x02] + Array(repeating: 0x61, count: 257), [0xff, 0xff, 0xff, 0xff, 0x7f])
        {
            #expect(throws: DecodingError.self) { try BinaryDecoder().decode(Int.self, from: keys + [3, 1]) }
        }
    }

    /// Tests that equal values have equal encodings in every process, because digests are computed from them.
    @Test func equalValuesGiveEqualBytes() throws {
        let bytes = try BinaryEncoder().encode(Inner(text: "t", maybe: 2, list: ["l"]))
        let hex = bytes.map { String($0, radix: 16) }.joined(separator: " ")
        #expect(
            hex
                == "3 4 74 65 78 74 5 6d 61 79 62 65 4 6c 69 73 74 7 17 0 0 0 0 6 1 74 1 5 0 0 0 0 0 0 0 40 2 8 3 0 0 0 6 1 6c"
        )
    }

    /// Tests truncated and changed bytes: decoding throws or returns a value, and never traps.
    @Test func truncatedOrChangedBytesNeverTrap() throws {
        let bytes = try BinaryEncoder().encode(Outer())
        for count in 0..<bytes.count {
            #expect(throws: DecodingError.self) {
                try BinaryDecoder().decode(Outer.self, from: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: DecodingError.self) { try BinaryDecoder().decode(Outer.self, from: bytes + [0]) }
        var refused = 0
        for position in bytes.indices {
            for byte in [0, 1, 3, 6, 7, 8, 9, 127, 128, 255] as [UInt8] where byte != bytes[position] {
                var changed = bytes
                changed[position] = byte
                if (try? BinaryDecoder().decode(Outer.self, from: changed)) == nil { refused += 1 }
            }
        }
        #expect(refused > bytes.count)
    }
}
