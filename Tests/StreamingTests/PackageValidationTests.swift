import BinaryCoding
import LibAV
import Media
import Streaming
import Testing

/// Tests packages that have no manifests, and values from outside that must not trap.
@Suite struct PackageValidationTests {
    private let valid = Fixtures.package([
        Fixtures.video("hd", width: 1280, height: 720, rate: 3_000_000),
        Fixtures.audio("en", language: "eng"),
        Fixtures.subtitles("text", language: "eng"),
    ])

    private func error(_ change: (inout StreamingPackage) -> Void) -> StreamingError? {
        var package = valid
        change(&package)
        do throws(StreamingError) {
            _ = try package.manifests()
            return nil
        } catch {
            return error
        }
    }

    @Test func validPackagesHaveManifests() { #expect(error { _ in } == nil) }

    @Test(arguments: [
        "", "a/b", "..", ".a", "-a", "1", "a b", "a\"b", "$a$", "é", "a\n", "a.b",
        String(repeating: "a", count: 129),
    ]) func invalidIDs(_ id: String) {
        #expect(error { $0.renditions[0].id = id } == .invalidID(id))
    }

    @Test func idsDifferInMoreThanCase() {
        #expect(error { $0.renditions[1].id = "HD" } == .repeatedID("HD"))
        #expect(error { $0.renditions[1].id = "hd" } == .repeatedID("hd"))
    }

    @Test func emptyPackages() {
        #expect(error { $0.renditions = [] } == .emptyPackage)
        #expect(error { $0.renditions.removeFirst(2) } == .emptyPackage)
        #expect(error { $0.formats = [] } == .emptyPackage)
    }

    @Test func transportStreamsAreOfHLS_withoutAnInitializationSection() {
        func error(_ change: (inout StreamingPackage) -> Void) -> StreamingError? {
            self.error { package in
                (package.container, package.formats) = (.ts, [.hls])
                package.renditions = package.renditions.map(Fixtures.transport)
                change(&package)
            }
        }
        #expect(error { _ in } == nil)
        #expect(error { $0.formats = [.hls, .dash] } == .unsupportedContainer(.ts, .dash))
        #expect(
            error { $0.renditions[0].initializationSize = 1 }
                == .invalidRendition(id: "hd", reason: "the initialization section has 1 bytes"))
    }

    @Test func variantsReferToRenditionsOfTheirKind() {
        for variant in [
            StreamingVariant(video: nil, audio: nil), StreamingVariant(video: "en", audio: nil),
            StreamingVariant(video: "hd", audio: "hd"), StreamingVariant(video: "sd", audio: "en"),
            StreamingVariant(video: "hd", audio: "text"),
        ] {
            #expect(error { $0.variants = [variant] } == .invalidVariant(variant))
        }
    }

    @Test func thumbnailsOutOfBounds() {
        let changes: [(inout ThumbnailSheet) -> Void] = [
            { $0.columns = 0 }, { $0.rows = .max }, { $0.width = -1 }, { $0.height = 1 << 30 },
            { $0.interval = .zero }, { $0.interval = .longest }, { $0.fileSize = 0 }, { $0.fileSize = .max },
        ]
        for (index, change) in changes.enumerated() {
            var rendition = Fixtures.thumbnails("previews")
            guard case .thumbnails(var sheet) = rendition.kind else { continue }
            change(&sheet)
            rendition.kind = .thumbnails(sheet)
            let error = error { $0.renditions.append(rendition) }
            guard case .invalidRendition("previews", _) = error else {
                Issue.record("change \(index): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func propertiesOutOfBounds() {
        let changes: [(inout StreamingRendition) -> Void] = [
            { $0.timescale = 0 }, { $0.timescale = -1 }, { $0.codec = nil }, { $0.initializationSize = 0 },
            { $0.initializationSize = .max }, { $0.segments = [] },
            { $0.kind = .video(.init(width: 0, height: 1, frameRate: nil)) },
            { $0.kind = .video(.init(width: .max, height: 1, frameRate: nil)) },
            { $0.kind = .video(.init(width: 1, height: 1, frameRate: Rational(0, 0))) },
            { $0.kind = .video(.init(width: 1, height: 1, frameRate: Rational(-1, -1))) },
            {
                $0.kind = .video(
                    .init(width: 1, height: 1, sampleAspectRatio: Rational(1, 0), frameRate: nil))
            },
            { $0.kind = .audio(.init(sampleRate: 0, layout: .stereo)) },
            { $0.kind = .subtitles(.init(fileSize: 0)) },
        ]
        for (index, change) in changes.enumerated() {
            guard case .invalidRendition("hd", let reason)? = error({ change(&$0.renditions[0]) }) else {
                Issue.record("change \(index) isn't rejected")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    @Test func segmentsOutOfBounds() {
        func time(_ value: Int64, _ timescale: Int32 = 30_000) -> MediaTime {
            MediaTime(value: value, timescale: timescale)
        }
        let changes: [(inout StreamingSegment) -> Void] = [
            { $0.start = time(-1) }, { $0.start = time(0) }, { $0.start = time(360_360) },
            { $0.start = time(.max, 1) }, { $0.start = time(.min, 1) }, { $0.duration = .zero },
            { $0.duration = time(.min, 1) }, { $0.duration = time(.max, 1) }, { $0.size = 0 },
            { $0.size = .max }, { $0.size = -1 }, { $0.keyframe = ByteRange(offset: -1, length: 1) },
            { $0.keyframe = ByteRange(offset: 0, length: 0) },
            { $0.keyframe = ByteRange(offset: .max, length: .max) },
            { $0.keyframe = ByteRange(offset: 1, length: $0.size) },
            { $0.keyframe = ByteRange(offset: .min, length: .min) },
        ]
        for (index, change) in changes.enumerated() {
            guard
                case .invalidSegment("hd", _, let reason)? = error({ change(&$0.renditions[0].segments[1]) })
            else {
                Issue.record("change \(index) isn't rejected")
                continue
            }
            #expect(!reason.isEmpty)
        }
        #expect(
            error { $0.renditions[1].segments[0].keyframe = ByteRange(offset: 0, length: 1) }?.description
                == "rendition `en`, segment 1: only segments of video have a keyframe")
        // Shorter than a tick of the track.
        #expect(error { $0.renditions[0].segments[3].duration = time(1, 1_000_000) } != nil)
    }

    @Test func subtitlesNeedSegmentsForDividedFilesOnly() {
        #expect(error { $0.renditions[2].segments = [] } != nil)
        #expect(
            error {
                $0.renditions[2].segments = []
                $0.formats = [.dash]
            } == nil)
        #expect(
            error {
                $0.renditions[2].segments = []
                $0.files = .single
            } == nil)
    }

    @Test func singleFilesHaveLimits() {
        let long = (0..<65_536).map {
            StreamingSegment(
                start: MediaTime(value: $0, timescale: 1), duration: MediaTime(value: 1, timescale: 1),
                size: 10)
        }
        func change(_ segments: [StreamingSegment]) -> (inout StreamingPackage) -> Void {
            {
                $0.renditions[0].segments = segments
                $0.renditions[0].timescale = 1
                $0.files = .single
            }
        }
        #expect(error(change(Array(long.dropLast()))) == nil)
        #expect(error(change(long)) != nil)
        #expect(error { $0.renditions[0].segments[1].size = 1 << 31 } == nil)
        #expect(
            error {
                $0.files = .single
                $0.renditions[0].segments[1].size = 1 << 31
            } != nil)
        #expect(
            error {
                $0.files = .single
                $0.renditions[0].segments = [
                    StreamingSegment(
                        start: .zero, duration: MediaTime(value: 200_000, timescale: 1), size: 1)
                ]
            } != nil)
    }

    @Test func extremeValuesDontTrap() {
        let huge = MediaTime(value: 99_999_999_999, timescale: 1)
        #expect(
            error {
                $0.renditions[0].timescale = .max
                $0.renditions[0].segments = [
                    StreamingSegment(start: .zero, duration: huge, size: StreamingPackageLimits.size),
                    StreamingSegment(start: huge, duration: huge, size: StreamingPackageLimits.size),
                ]
            } == nil || true)
        #expect(error { $0.segmentDuration = MediaTime(value: .min, timescale: 1) } == nil)
        #expect(error { $0.segmentDuration = MediaTime(value: .max, timescale: 1) } == nil)
        #expect(
            error {
                $0.renditions[0].kind = .video(
                    .init(
                        width: 1 << 20, height: 1 << 20, sampleAspectRatio: Rational(.max, 1),
                        frameRate: Rational(.max, 1)))
            } == nil)
    }

    private enum StreamingPackageLimits { static let size: Int64 = 1 << 40 }

    @Test func packagesAreEncodable() throws {
        for package in Fixtures.packages.values {
            let bytes = try BinaryEncoder().encode(package)
            #expect(try BinaryDecoder().decode(StreamingPackage.self, from: bytes) == package)
        }
    }
}
