import CFFmpeg
import Foundation
import Testing

@testable import JobSpec
@testable import LibAV

/// Compares the parser for filter chains with libavfilter's. The filter graph is built from Tandem's own parse, so a
/// difference is no vulnerability, but chains copied from ffmpeg commands must have the same meaning.
@Suite struct FilterTextTests {
    /// libavfilter's parser. Returns the names of a chain's filters, with the value of one option; nil if the chain is
    /// invalid.
    private struct ReferenceParser {
        private let handle: UnsafeMutableRawPointer

        init() throws { handle = try #require(dlopen("libavfilter.so.\(tandem_filter_major())", RTLD_LAZY)) }

        private func function<F>(_ name: String, as type: F.Type) throws -> F {
            unsafeBitCast(try #require(dlsym(handle, name)), to: type)
        }

        func filters(of text: String) throws -> [String]? {
            typealias Graph = UnsafeMutablePointer<AVFilterGraph>
            typealias Pads = UnsafeMutablePointer<UnsafeMutablePointer<AVFilterInOut>?>
            let alloc = try function("avfilter_graph_alloc", as: (@convention(c) () -> Graph?).self)
            let free = try function(
                "avfilter_graph_free", as: (@convention(c) (UnsafeMutablePointer<Graph?>) -> Void).self)
            let freePads = try function(
                "avfilter_inout_free", as: (@convention(c) (Pads) -> Void).self)
            let parse = try function(
                "avfilter_graph_parse2",
                as: (@convention(c) (Graph, UnsafePointer<CChar>, Pads, Pads) -> Int32).self)
            var graph = alloc()
            defer { free(&graph) }
            var inputs: UnsafeMutablePointer<AVFilterInOut>?
            var outputs: UnsafeMutablePointer<AVFilterInOut>?
            defer {
                freePads(&inputs)
                freePads(&outputs)
            }
            let created = try #require(graph)
            guard parse(created, text, &inputs, &outputs) >= 0 else { return nil }
            return (0..<Int(created.pointee.nb_filters)).compactMap { index in
                created.pointee.filters[index].map { context in
                    // The option's value after libavfilter parsed it, read from the filter.
                    var value: UnsafeMutablePointer<UInt8>?
                    let name = String(cString: context.pointee.filter.pointee.name)
                    guard ["setsar", "hue", "pan"].contains(name) else { return name }
                    let option = ["setsar": "sar", "hue": "h", "pan": "args"][name] ?? ""
                    guard av_opt_get(context.pointee.priv, option, 0, &value) >= 0, let value else {
                        return name
                    }
                    defer { av_free(value) }
                    let text = String(cString: value)
                    return text.isEmpty ? name : "\(name) \(text)"
                }
            }
        }
    }

    private func parsed(_ text: String) -> [String]? {
        guard let steps = try? FilterText.parse(text) else { return nil }
        return steps.map { step in
            let option: String? =
                switch step.name {
                case "setsar": ["sar", "ratio", "r"].lazy.compactMap { value($0, of: step) }.first ?? "0"
                case "hue": value("h", of: step)
                case "pan": value("args", of: step)
                default: nil
                }
            return option.flatMap { $0.isEmpty ? nil : "\(step.name) \($0)" } ?? step.name
        }
    }

    /// Returns the value of an option that is given by name or as the first positional value.
    private func value(_ name: String, of step: FilterText.Step) -> String? {
        step.options.last { $0.name == name }?.value
            ?? step.options.first.flatMap { $0.name == nil ? $0.value : nil }
    }

    /// Tests random strings of characters with and without special meaning in a chain.
    @Test func chainsAreParsedAsByLibavfilter() throws {
        av_log_set_level(AV_LOG_QUIET)
        defer { av_log_set_level(AV_LOG_WARNING) }
        let reference = try ReferenceParser()
        var generator = XorshiftGenerator(19)
        let words = [
            "hflip", "vflip", "null", "setsar", "hue", "setsar=", "hue=h=", "setsar=r=", "1", "2", "1/2",
            "PI", ",", ",",
            ":", "=", "'", "'", "\\", "\\\\", "\\'", "\\,", "\\:", " ", "\t", "\n", "''", "h", "max=", "3",
            "+1", "é",
        ]
        var (both, differences) = (0, [String]())
        for _ in 0..<60_000 {
            let text = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                words.randomElement(using: &generator) ?? ""
            }.joined()
            guard let own = parsed(text), let expected = try reference.filters(of: text) else { continue }
            both += 1
            if own != expected { differences.append("\(text.debugDescription): \(own) \(expected)") }
        }
        #expect(both > 3000, "too few strings are valid for both parsers: \(both)")
        let count = differences.count
        #expect(count == 0, "\(differences.prefix(10).joined(separator: "\n"))")
    }

    /// Tests strings that earlier versions parsed differently from libavfilter.
    @Test func quotesContainNoEscapes() throws {
        #expect(try FilterText.parse("afftdn=bn='\\',ladspa=file=x").map(\.name) == ["afftdn", "ladspa"])
        #expect(
            try FilterText.parse("curves=p\\lot=/x").first?.options == [
                FilterText.Option(name: "plot", value: "/x")
            ])
        #expect(throws: FilterText.Problem.self) { try FilterText.parse("hue=h='1") }
    }

    /// Options that exist in FFmpeg 5.1 but not in 7.1. With 7.1, a job file that uses them is rejected.
    private static let removedInFFmpeg7: Set = [
        "adynamicequalizer knee", "adynamicequalizer slew", "libsvtav1 hielevel", "libsvtav1 la_depth",
        "libsvtav1 sc_detection", "libsvtav1 tier", "libsvtav1 tile_columns", "libsvtav1 tile_rows",
    ]

    /// Tests that every option of the catalog exists in this build, and that every option with text as its value has a
    /// grammar.
    @Test(arguments: [MediaType.video, .audio]) func filterOptionsExistAndTextHasAGrammar(_ type: MediaType) {
        for (filter, table) in FilterCatalog.tables(type) {
            guard FilterInfo.exists(filter) else {
                Issue.record("the filter \(filter) doesn't exist")
                continue
            }
            for entry in table.entries {
                for name in entry.names {
                    guard let option = FilterInfo.option(name, of: filter) else {
                        let isRemoved = Self.removedInFFmpeg7.contains("\(filter) \(name)")
                        if !isRemoved { Issue.record("\(filter) has no option \(name)") }
                        continue
                    }
                    if entry.grammar == .declared {
                        #expect(
                            ![.string, .dictionary, .other].contains(option.kind),
                            "\(filter) \(name) is text and requires a grammar"
                        )
                    }
                    let isFile = ["file", "plot", "path", "model", "plugin", "device", "url"].contains {
                        name.contains($0)
                    }
                    #expect(!isFile, "\(filter) \(name) seems to be a file name")
                }
            }
        }
    }

    @Test func encoderOptionsExistAndTextHasAGrammar() throws {
        for model in EncoderModel.table {
            guard let encoder = EncoderInfo(named: model.name) else { continue }
            for entry in EncoderOptionCatalog.options(of: encoder.name).entries {
                for name in entry.names {
                    guard let option = encoder.option(name) else {
                        let isRemoved = Self.removedInFFmpeg7.contains("\(encoder.name) \(name)")
                        if !isRemoved { Issue.record("\(encoder.name) has no option \(name)") }
                        continue
                    }
                    if EncoderOptionCatalog.parameters(of: name) != nil {
                        #expect(option.kind == .dictionary)
                    } else if entry.grammar == .declared {
                        #expect(
                            ![.string, .dictionary, .other].contains(option.kind), "\(encoder.name) \(name)")
                    }
                }
            }
        }
    }

    /// Tests that the encoder recognizes every allowed parameter of its parameter list.
    @Test(arguments: [
        ("libx264", "x264-params"), ("libx265", "x265-params"), ("libsvtav1", "svtav1-params"),
    ]) func allowedParametersAreKnownToTheEncoder(_ encoder: String, _ option: String) throws {
        let values: [ValueGrammar: String] = [.boolean: "0", .integer: "1", .number: "1", .numbers: "1"]
        let words = [
            "weightp": "1", "analyse": "none", "partitions": "none", "b-pyramid": "none", "direct": "none",
            "me": "hex",
            "nal-hrd": "none", "overscan": "undef", "videoformat": "undef", "zones": "0,1,q=20",
            "deblock": "0,0", "psy-rd": "1,0", "hme-search": "1,1,1", "hme-range": "16,32,48",
            "log-level": "error", "pools": "1", "max-cll": "1,1", "content-light": "1,1",
            "master-display": "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)",
            "mastering-display": "G(0.2,0.6)B(0.1,0.1)R(0.6,0.3)WP(0.3,0.3)L(1000,0.1)",
            "chroma-sample-position": "left", "min-cu-size": "8", "max-tu-size": "32", "ctu": "64",
            "qg-size": "32",
        ]
        // SVT-AV1 1.4 crashes or hangs with some documented parameters, so they are only tried in workers.
        guard encoder != "libsvtav1" else { return }
        for entry in try #require(EncoderOptionCatalog.parameters(of: option)).entries {
            for name in entry.names {
                var configuration = EncoderConfiguration(
                    encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
                (configuration.width, configuration.height) = (320, 240)
                (configuration.pixelFormat, configuration.frameRate) = (.yuv420p, Rational(25, 1))
                if encoder == "libx265" { configuration.set("log-level", to: "error", in: option) }
                // The parameter of the same name has another type in the other encoder.
                let isNumber = [.boolean, .integer, .number].contains(entry.grammar)
                var value = (isNumber ? nil : words[entry.names[0]]) ?? values[entry.grammar] ?? "1"
                if case .choice(let choices) = entry.grammar { value = choices[0] }
                #expect(entry.grammar.problem(value) == nil, "\(name) \(value)")
                configuration.set(name, to: value, in: option)
                let problem = EncoderValidation.problem(configuration) ?? ""
                #expect(!problem.contains("Unknown option"), "\(name)=\(value)")
                #expect(!problem.contains("Error parsing"), "\(name)=\(value)")
            }
        }
    }
}
