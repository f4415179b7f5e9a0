import Diagnostics
import JobSpec
import Media
import TestSupport
import Testing

@testable import JobPlan

/// A job's tasks and their dependencies are derived from its plan.
@Suite struct WorkGraphTests {
    private func plan(_ rate: String = "bitrate: 100k, passes: 2") throws -> JobPlan {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=1:r=25:s=64x48", "-f", "lavfi", "-i", "sine=d=1", "-c:v",
            "mpeg4", scratch.file("a.mp4"))
        let text = """
            version: 1
            jobs:
              j:
                asset: ./a.mp4
                outputs:
                  plain: { tracks: [ { video: first, encode: { codec: h264 } } ], destination: out/p.mp4 }
                  both:
                    tracks:
                      - { video: first, encode: { codec: h264, \(rate) } }
                      - { audio: first, encode: { codec: aac, normalize: -16 } }
                    destination: out/b.mp4
                  poster: { images: { at: [ 0s ] }, destination: out/p.png }
            """
        let (file, sink) = decode(text, directory: scratch.path)
        try #require(!sink.hasErrors, "\(rendered(sink, text))")
        let result = BatchPlanner.plan([try #require(file, "\(rendered(sink, text))")])
        return try #require(result.plan.jobs.first, "\(result.diagnostics.diagnostics)")
    }

    @Test func tasksFollowTheirDependencies() throws {
        let graph = try plan().workGraph()
        let both = try #require(graph.nodes.firstIndex { $0.task == .measure(output: 1, track: 1) })
        #expect(
            graph.nodes[both...].prefix(5).map(\.task) == [
                .measure(output: 1, track: 1), .firstPass(input: 0), .encode(input: 0), .verify(output: 0),
                .verify(output: 1),
            ])
        #expect(graph.nodes[both + 2].needs == [both, both + 1])
        #expect(graph.nodes[(both + 3)...].prefix(2).allSatisfy { $0.needs == [both + 2] })
        #expect(graph.nodes.map(\.task).contains(.produce(output: 2)))
        #expect(
            graph.nodes.indices.allSatisfy { index in graph.nodes[index].needs.allSatisfy { $0 < index } })
        // Every output is created and verified once.
        let results = graph.nodes.map(\.task).filter {
            switch $0 {
            case .verify, .produce: true
            default: false
            }
        }
        #expect(Set(results).count == 3 && results.count == 3)
    }

    @Test func targetSizesAreCorrectedBeforeVerification() throws {
        let graph = try plan("target_size: 100kB").workGraph()
        let tasks = graph.nodes.map(\.task)
        let encoded = try #require(tasks.firstIndex(of: .encode(input: 0)))
        let corrected = try #require(tasks.firstIndex(of: .correct(input: 0)))
        #expect(graph.nodes[corrected].needs == [encoded])
        for output in 0...1 {
            let verified = try #require(tasks.firstIndex(of: .verify(output: output)))
            #expect(graph.nodes[verified].needs == [corrected])
        }
        #expect(try !plan().workGraph().nodes.contains { $0.task == .correct(input: 0) })
    }

    @Test func qualitiesAreSearchedBeforeAndMeasuredAfterTheEncode() throws {
        let graph = try plan("quality: { ssim: 0.98 }").workGraph()
        let tasks = graph.nodes.map(\.task)
        let searched = try #require(tasks.firstIndex(of: .search(input: 0)))
        let encoded = try #require(tasks.firstIndex(of: .encode(input: 0)))
        let refined = try #require(tasks.firstIndex(of: .refine(input: 0)))
        #expect(graph.nodes[encoded].needs.contains(searched))
        #expect(graph.nodes[refined].needs == [encoded])
        for output in 0...1 {
            let verified = try #require(tasks.firstIndex(of: .verify(output: output)))
            #expect(graph.nodes[verified].needs == [refined])
        }
        #expect(try !plan().workGraph().nodes.contains { $0.task == .search(input: 0) })
    }

    @Test func tasksStartAfterTheirDependencies() throws {
        let graph = try plan().workGraph()
        var done: Set<Int> = []
        while let next = graph.next(done: done) {
            #expect(graph.nodes[next].needs.allSatisfy(done.contains))
            done.insert(next)
        }
        #expect(done.count == graph.nodes.count)
    }

    @Test func existingOutputsAreOnlyEvaluated() throws {
        let graph = try plan().evaluationGraph
        #expect(
            graph.nodes.map(\.task) == [.evaluate(output: 0), .evaluate(output: 1), .evaluate(output: 2)])
    }

    @Test func copiesOfOutputsAreOnlyVerified() throws {
        let graph = try plan().verificationGraph
        #expect(graph.nodes.map(\.task) == [.verify(output: 0), .verify(output: 1), .verify(output: 2)])
        #expect(graph.nodes.flatMap { $0.needs } == [])
    }
}
