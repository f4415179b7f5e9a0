import Diagnostics
import FileSystem
import Foundation
import JobSpec
import LibAV
import Publishing
import Streaming
import TestSupport
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// The assembly of a package from the files of its renditions, in a scratch folder.
@Suite struct PackageAssemblerTests {
    private let scratch: Scratch
    private let snippet: JobSnippet

    init() throws {
        scratch = try Scratch()
        snippet = try JobSnippet(rule: "{ video: first, copy: true }")
    }

    private func output(_ id: String, _ source: TrackDescription) -> OutputPlan {
        var output = OutputPlan.media([.planned(source)], of: snippet)
        output.id = id
        return output
    }

    private func assembler(_ outputs: [OutputPlan], files: PackageFiles = .many) -> PackageAssembler {
        PackageAssembler(
            package: PackagePlan(
                formats: [.hls], files: files, container: .mp4, segment: s(4),
                variants: [StreamingVariant(video: outputs[0].id, audio: nil)], hasKeyframePlaylists: false,
                renditions: outputs.map {
                    PackagePlan.Rendition(output: $0, language: "deu", title: "T", disposition: ["default"])
                }, location: snippet.job.id.range),
            location: snippet.job.id.range, destination: scratch.file("p"), root: .anywhere)
    }

    /// Returns a rendition with segments that begin at the given times, in seconds, and have 4 bytes each after a header
    /// of 3 bytes.
    private func rendition(_ id: String, _ starts: [Double], hasKeyframes: Bool = true) -> StreamingRendition
    {
        StreamingRendition(
            id: id,
            kind: .video(
                .init(width: 1280, height: 720, frameRate: Rational(25, 1), color: .standard)),
            codec: CodecString("avc1.64001f"), timescale: 1000, initializationSize: 3,
            segments: starts.map {
                StreamingSegment(
                    start: s($0), duration: s(4), size: 4,
                    keyframe: hasKeyframes ? ByteRange(offset: 0, length: 2) : nil)
            })
    }

    /// Returns the file of a rendition with the given parts, by default those of the rendition.
    private func written(
        _ output: OutputPlan, _ rendition: StreamingRendition?, parts: [(Int64, Int64)]? = nil,
        bytes: String = "hdrAAAABBBBCCCC"
    ) throws -> WrittenFile {
        let file = try TemporaryFile(destination: scratch.file("r.mp4"), in: .anywhere)
        try Array(bytes.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        let own = rendition.map { rendition in
            [(Int64(0), Int64(3))] + rendition.segments.indices.map { (3 + 4 * Int64($0), Int64(4)) }
        }
        let findings = OutputFindings(
            parts: (parts ?? own ?? []).map { TemporaryFile.Part(offset: $0, length: $1) },
            rendition: rendition)
        let task = OutputTask(
            job: "one", file: "jobs.yaml",
            input: InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent()),
            output: output)
        return WrittenFile(task: task, file: file, findings: findings)
    }

    /// Returns the failure's message; nil if the package is complete.
    private func problem(_ assembler: PackageAssembler, _ files: [WrittenFile]) -> String? {
        do {
            _ = try assembler.assemble(files, reusing: [:])
            return nil
        } catch let failure as JobFailure {
            #expect(failure.location == assembler.location)
            return failure.message
        } catch {
            return "\(error)"
        }
    }

    private func alignment(_ hd: [Double], _ sd: [Double], hasKeyframes: Bool = true) throws -> String? {
        let outputs = [output("hd", .video()), output("sd", .video())]
        return try problem(
            assembler(outputs),
            [
                written(outputs[0], rendition("hd", hd)),
                written(outputs[1], rendition("sd", sd, hasKeyframes: hasKeyframes)),
            ]
        ).map { $0.replacing("the segments of the package can't be aligned: ", with: "") }
    }

    // MARK: Alignment

    @Test func videoRenditions_mustHaveTheSameSegments() throws {
        #expect(try alignment([0, 4, 8], [0, 4, 8]) == nil)
        #expect(
            try alignment([0, 4, 8], [0, 4.04, 8]) == "segment 2 begins at 4.04 s in `sd` and at 4 s in `hd`")
        #expect(try alignment([0, 4, 8], [0, 4]) == "`sd` has 2 segments, `hd` has 3")
        #expect(
            try alignment([0, 4], [0, 4], hasKeyframes: false)
                == "segment 1 of `sd` doesn't begin with a keyframe, at 0 s")
    }

    // MARK: Parts

    /// Parts that a worker reports must be those of the rendition, one after the other, and within the file.
    @Test(
        arguments: [
            ([(0, 3), (3, 4), (7, 4)], true), ([(0, 3), (3, 4)], false), ([(0, 3), (7, 4), (3, 4)], false),
            ([(0, 3), (3, 4), (8, 4)], false), ([(0, 3), (3, 4), (7, 5)], false),
            ([(0, 3), (3, 4), (7, 4), (11, 4)], false), ([], false), ([(0, 3), (3, 4), (3, 4)], false),
        ] as [([(Int64, Int64)], Bool)])
    func parts_mustMatchTheSegments(_ parts: [(Int64, Int64)], _ isAccepted: Bool) throws {
        let hd = output("hd", .video())
        let file = try written(hd, rendition("hd", [0, 4]), parts: parts)
        #expect((problem(assembler([hd]), [file]) == nil) == isAccepted)
    }

    @Test func parts_mustBeWithinTheFile() throws {
        let hd = output("hd", .video())
        let file = try written(hd, rendition("hd", [0, 4]), bytes: "hdrAAAABBB")
        #expect(problem(assembler([hd]), [file]) != nil)
    }

    // MARK: Renditions

    @Test func rendition_withoutFileOrDescription_isRefused() throws {
        let (hd, sound) = (output("hd", .video()), output("sound", .audio(0)))
        let file = try written(hd, rendition("hd", [0]))
        #expect(problem(assembler([hd, sound]), [file]) != nil)
        #expect(problem(assembler([hd]), [try written(hd, nil)]) != nil)
        // The description of a worker must have the kind of the plan.
        #expect(problem(assembler([sound]), [try written(sound, rendition("sound", [0]))]) != nil)
    }

    /// Ids and labels are those of the plan, whatever a worker reports.
    @Test func rendition_hasTheLabelsOfThePlan() throws {
        let hd = output("hd", .video())
        var reported = rendition("../x", [0, 4])
        (reported.title, reported.isDefault) = ("worker", false)
        let file = try written(hd, reported)
        let (folder, renditions, summary) = try assembler([hd]).assemble([file], reusing: [:])
        #expect(renditions.map(\.id) == ["hd"] && renditions[0].title == "T" && renditions[0].isDefault)
        #expect(renditions[0].language == LanguageTag("deu"))
        #expect(summary.renditions.map(\.title) == ["T"] && summary.renditions.map(\.segments) == [2])
        // The space of the rendition's file is released.
        #expect(file.file.size == 0)
        try folder.publish(replacing: false, keepsReplaced: false)
        let contents = scratch.contents.filter { $0.hasPrefix("p/hd/") }
        let texts = contents.compactMap {
            FileManager.default.contents(atPath: scratch.file($0)).map {
                String(decoding: $0.prefix(4), as: UTF8.self)
            }
        }
        #expect(["hdr", "AAAA", "BBBB"].allSatisfy(texts.contains), "\(contents) \(texts)")
        #expect(!scratch.contents.contains { $0.hasSuffix("x") })
    }

    @Test func incompletePackage_isNotPublished() throws {
        _ = try? alignment([0, 4], [0, 4.04])
        #expect(scratch.contents == [])
    }
}
