import TestSupport
import Testing

@testable import Media

@Suite struct AVCOpeningTests {
    private static func sets(_ units: [[UInt8]]) throws -> AVCParameterSets {
        let extradata = units.prefix(2).flatMap { [0, 0, 1] + $0 } as [UInt8]
        let headers = try #require(AVCHeaders(extradata))
        return try #require(AVCParameterSets(headers))
    }

    private static func rewritten(_ unit: [UInt8], _ opening: inout AVCOpening) throws -> [UInt8]? {
        try unit.withUnsafeBytes { try opening.rewritten($0) }
    }

    /// Frame numbers and picture order count start from 0 if the stream is opened at the second keyframe.
    @Test func framesOfAnOpenedGroupAreCountedFromItsStart() throws {
        let pictures = FieldStream(count: 40).pictures
        let sets = try Self.sets(pictures[0].units)
        let start = try #require(pictures.firstIndex { $0.frame == 12 })
        var opening = AVCOpening(sets, isOpen: true)
        var numbers: [Int] = []
        for picture in pictures[start...] where picture.frame >= 12 {
            for unit in picture.units {
                let changed = try Self.rewritten(unit, &opening)
                guard unit[0] & 0x1f < 6 else { continue }
                let now = try #require(changed)
                let header = try #require(AVCSliceHeader(now, sets))
                #expect(header.isIDR == (numbers.isEmpty))
                #expect(header.order?.value == (2 * (picture.frame - 12) + numbers.count % 2) % 64)
                // Operations that unmark references from before the keyframe are removed; later ones are kept.
                let isLater = picture.frame % 12 == 3 && picture.frame > 24 && numbers.count % 2 == 0
                #expect((header.marking?.operations?.map { $0.values } ?? []) == (isLater ? [[3], [4]] : []))
                numbers.append(header.start.frameNumber)
            }
        }
        #expect(numbers.prefix(10) == [0, 0, 1, 1, 2, 2, 2, 2, 2, 2])
        #expect(opening.isOver == false)
    }

    /// Dropped leading frames that are references leave gaps in the frame numbers, which reference lists of B-slices
    /// don't support.
    @Test func leadingReferencesPreventCutsWithBSlices() throws {
        for areReferences in [false, true] {
            let pictures = FieldStream(count: 40, hasLeadingReferences: areReferences).pictures
            let sets = try Self.sets(pictures[0].units)
            let start = try #require(pictures.firstIndex { $0.frame == 12 })
            var opening = AVCOpening(sets, isOpen: true)
            var unfit: Int?
            for picture in pictures[start...] where unfit == nil {
                for unit in picture.units {
                    if picture.frame < 12 {
                        try unit.withUnsafeBytes { try opening.dropLeadingFrame($0) }
                        continue
                    }
                    do {
                        _ = try Self.rewritten(unit, &opening)
                    } catch is AVCOpening.DependsOnLeadingFrames {
                        unfit = picture.frame
                    }
                }
            }
            #expect(unfit == (areReferences ? 13 : nil))
        }
    }

    /// Slices with random changes are rewritten or rejected, and never trap.
    @Test func damagedSlicesNeverTrap() throws {
        let pictures = FieldStream(count: 16).pictures
        let sets = try Self.sets(pictures[0].units)
        var generator = Numbers(state: 41)
        var refused = 0
        for round in 0..<3_000 {
            var opening = AVCOpening(sets, isOpen: true, part: round)
            let from = generator.below(pictures.count)
            for picture in pictures[from...].prefix(6) {
                for var unit in picture.units {
                    if generator.below(2) == 0 { unit.removeLast(generator.below(unit.count)) }
                    for _ in 0..<generator.below(4) {
                        unit[generator.below(min(unit.count, 24))] ^= UInt8(1 << generator.below(8))
                    }
                    do {
                        if generator.below(3) == 0 {
                            try unit.withUnsafeBytes { try opening.dropLeadingFrame($0) }
                        } else {
                            _ = try Self.rewritten(unit, &opening)
                        }
                    } catch {
                        refused += 1
                    }
                    _ = unit.withUnsafeBytes { AVCSliceHeader($0, sets) }
                    let both = (pictures[0].units.prefix(2) + [unit]).flatMap { [0, 0, 1] + $0 } as [UInt8]
                    _ = AVCHeaders(both).flatMap { AVCParameterSets($0) }
                }
            }
        }
        #expect(refused > 1_000)
    }
}

/// A reproducible random number generator.
private struct Numbers {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}
