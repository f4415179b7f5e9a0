import LibAV
import Media
import Testing

@Suite struct FramePositionsTests {
    private func time(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }
    private func range(_ start: Int64, _ end: Int64) -> TimeRange {
        TimeRange(start: time(start), end: time(end))
    }
    private func found(_ numbers: [Int64], _ ranges: [TimeRange], _ times: [Int64]) -> FramePositions {
        FramePositions(of: numbers, in: ranges, among: times.map { time($0) })
    }
    private func position(_ start: Int64, _ end: Int64?) -> FramePositions.Position {
        FramePositions.Position(start: time(start), end: end.map { time($0) })
    }

    @Test func withoutRangesFramesAreAtTheirOwnTimes() {
        let found = found([0, 2, 3, 4], [], [67, 100, 500, 501])
        #expect(found.positions == [position(67, 100), position(500, 501), position(501, nil), nil])
        #expect(found.count == 4)
    }

    @Test func aRangeBeginsWithTheFrameOnScreen() {
        let found = found([0, 1, 2], [range(300, 501)], [67, 100, 500, 501])
        #expect(found.positions == [position(0, 200), position(200, 201), nil])
        #expect(found.count == 2)
    }

    @Test func aRangeBeforeTheFirstFrameBeginsAtThatFrame() {
        let found = found([0, 1], [range(0, 100)], [67, 100])
        #expect(found.positions == [position(67, 100), nil])
    }

    @Test func aRangeAfterTheLastFrameContainsIt() {
        let found = found([0, 1], [range(900, 1000)], [67, 100])
        #expect(found.positions == [position(0, 100), nil])
    }

    @Test func joinedRangesAreNumberedContinuously() {
        let found = found([0, 2, 3, 4, 9], [range(100, 220), range(40, 120)], [0, 40, 80, 120, 160, 200])
        #expect(
            found.positions == [
                position(0, 20), position(60, 100), position(100, 120), position(120, 160), nil,
            ])
        #expect(found.count == 6)
    }

    @Test func emptyTracksAndNegativeNumbersHaveNoPosition() {
        #expect(found([0], [], []) == FramePositions(positions: [nil], count: 0))
        #expect(found([0], [range(0, 1)], []) == FramePositions(positions: [nil], count: 0))
        #expect(found([-1, .max], [], [0]).positions == [nil, nil])
    }

    @Test func positionsAtAConstantRateAreComputed() {
        let found = FramePositions(of: [0, 100], in: [], count: 1 << 50, every: Rational(1001, 30_000))
        #expect(found.positions[1]?.start == MediaTime(value: 100_100, timescale: 30_000))
    }
}
