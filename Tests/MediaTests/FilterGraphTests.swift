@testable import LibAV
import TestSupport
import Testing

/// Tests filter graphs with several inputs, and references to inputs that don't exist.
@Suite struct FilterGraphTests {
    private func frame() throws -> Frame {
        try Frame.black(
            FrameFormat(
                width: 64, height: 48, format: .yuv420p, sampleAspectRatio: Rational(1, 1),
                color: ColorDescription()))
    }

    @Test func framesOfTwoInputsAreStacked() throws {
        let stacked = FilterNode(FilterStep("hstack"), inputs: [.input(0), .input(1)])
        let flipped = FilterNode(FilterStep("hflip"), inputs: [.node(0)])
        let graph = try FilterGraph.video(
            [stacked, flipped], inputs: 2, like: try frame(), timeBase: Rational(1, 25))
        for input in 0..<2 {
            let one = try frame()
            one.pts = 0
            try graph.send(one, to: input)
        }
        let result = try Frame()
        let output = try graph.receive(into: result)
        #expect(output == .ready && result.width == 128 && result.height == 48)
    }

    @Test func missingInputsAreErrors() throws {
        let none = FilterNode(FilterStep("hflip"), inputs: [.input(3)])
        #expect(throws: AVError.self) {
            _ = try FilterGraph.video([none], inputs: 1, like: try frame(), timeBase: Rational(1, 25))
        }
        let loop = FilterNode(FilterStep("hflip"), inputs: [.node(0)])
        #expect(throws: AVError.self) {
            _ = try FilterGraph.video([loop], inputs: 1, like: try frame(), timeBase: Rational(1, 25))
        }
        let bars = try FilterGraph.generator([FilterStep("smptebars")], mediaType: .video)
        #expect(throws: AVError.self) { try bars.send(try frame()) }
        #expect(throws: AVError.self) { try bars.sendEnd(at: 0) }
        let two = FilterNode(FilterStep("hstack"), inputs: [.input(0)])
        #expect(throws: AVError.self, "hstack requires two inputs") {
            _ = try FilterGraph.video([two], inputs: 1, like: try frame(), timeBase: Rational(1, 25))
        }
    }
}
