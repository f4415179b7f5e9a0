import LibAV
import Testing

@testable import Media

/// Tests the rectangles of subtitle images in frames.
@Suite struct SubtitlePlacementTests {
    private static let disc = PixelSize(width: 1920, height: 1080)

    private static func image(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> SubtitleImage {
        SubtitleImage(
            x: x, y: y, width: width, height: height,
            pixels: [UInt8](repeating: 9, count: width * height * 4))
    }

    private static func placement(
        in frame: PixelSize, of track: PixelSize = disc, isSquare: Bool = true,
        _ change: (inout VideoOutputSettings) -> Void = { _ in }
    ) throws -> SubtitlePlacement {
        var settings = VideoOutputSettings()
        change(&settings)
        let canvas = Canvas(size: frame, frameRate: Rational(25, 1))
        return SubtitlePlacement(settings, of: track, isSquare: isSquare, into: OverlayTarget(canvas))
    }

    /// Returns the rectangle of an image in frames of a size, such as `800,900 320x80`.
    private func placed(
        _ image: SubtitleImage, canvas: PixelSize = disc, in frame: PixelSize,
        _ change: (inout VideoOutputSettings) -> Void = { _ in }
    ) throws -> String {
        let placement = try Self.placement(in: frame, of: Self.disc, change)
        let (_, box) = placement.place(image, of: canvas, in: frame)
        return "\(box.x),\(box.y) \(box.width)x\(box.height)"
    }

    @Test func image_isScaledWithTheFrame() throws {
        let image = Self.image(800, 900, 320, 80)
        #expect(try placed(image, in: Self.disc) == "800,900 320x80")
        #expect(try placed(image, in: PixelSize(width: 960, height: 540)) == "400,450 160x40")
        // The canvas covers the frame, whatever its size is.
        let canvas = PixelSize(width: 3840, height: 2160)
        #expect(try placed(image, canvas: canvas, in: Self.disc) == "400,450 160x40")
        #expect(
            try placed(image, canvas: PixelSize(width: 0, height: 0), in: Self.disc) == "800,900 320x80")
    }

    /// An image in a part of the frame that is cropped is moved into the frame.
    @Test func image_ofACroppedFrame_isMovedIntoIt() throws {
        let frame = PixelSize(width: 1920, height: 800)
        func crop(_ settings: inout VideoOutputSettings) {
            settings.crop = PixelRectangle(x: 0, y: 140, width: 1920, height: 800)
        }
        #expect(try placed(Self.image(800, 900, 320, 80), in: frame, crop) == "800,720 320x80")
        #expect(try placed(Self.image(800, 800, 320, 80), in: frame, crop) == "800,660 320x80")
        #expect(try placed(Self.image(800, 40, 320, 80), in: frame, crop) == "800,0 320x80")
    }

    /// Bars are no part of the canvas; cropped parts of the frame are.
    @Test func image_isPlacedBetweenTheBars() throws {
        let square = PixelSize(width: 1080, height: 1080)
        let contained = try placed(Self.image(960, 540, 320, 80), in: square) {
            ($0.fit, $0.innerSize, $0.size) = (.contain, PixelSize(width: 1080, height: 608), square)
        }
        #expect(contained == "540,540 180x46")
        let covered = try placed(Self.image(960, 540, 320, 80), in: square) {
            ($0.fit, $0.innerSize, $0.size) = (.cover, PixelSize(width: 1920, height: 1080), square)
        }
        #expect(covered == "540,540 320x80")
    }

    /// An image that is larger than the frame is reduced to it, with its aspect ratio.
    @Test func largeImage_isReduced() throws {
        let covered = try placed(Self.image(0, 800, 1920, 100), in: PixelSize(width: 608, height: 1080)) {
            ($0.fit, $0.innerSize) = (.cover, PixelSize(width: 1920, height: 1080))
        }
        #expect(covered == "0,834 608x32")
        #expect(try placed(Self.image(0, 0, 8, 8), in: PixelSize(width: 3, height: 3)) == "0,0 2x2")
    }

    /// An image that isn't scaled keeps its pixels: at odd positions, transparent pixels are added.
    @Test func unscaledImage_isPadded() throws {
        let placement = try Self.placement(in: Self.disc)
        let (image, box) = placement.place(Self.image(801, 101, 3, 1), of: Self.disc, in: Self.disc)
        #expect(box == PixelRectangle(x: 800, y: 100, width: 4, height: 2))
        let row = [UInt8](repeating: 0, count: 16)
        #expect(image.pixels == row + [0, 0, 0, 0] + [UInt8](repeating: 9, count: 12))
        let (even, _) = placement.place(Self.image(800, 100, 4, 2), of: Self.disc, in: Self.disc)
        #expect(even.pixels.count == 32 && even.pixels.allSatisfy { $0 == 9 })
    }

    /// A film without its black bars has the subtitles of the frames with them; other canvases cover the frame.
    @Test(
        arguments: [
            (PixelSize(width: 1920, height: 800), disc, true, "800,660 320x80"),
            (PixelSize(width: 1440, height: 1080), disc, true, "560,800 320x80"),
            (PixelSize(width: 1280, height: 534), disc, true, "534,440 214x54"),
            (PixelSize(width: 1920, height: 1080), PixelSize(width: 720, height: 576), false, "0,0 0x0"),
        ])
    func canvas_ofACroppedFilm_isLarger(
        _ film: PixelSize, _ canvas: PixelSize, _ isSquare: Bool, _ expected: String
    ) throws {
        let placement = try Self.placement(in: film, of: film, isSquare: isSquare)
        guard canvas == Self.disc else {
            // Pixels of DVB and DVD subtitles aren't square: the canvas covers the frame.
            let (_, box) = placement.place(Self.image(360, 288, 72, 144), of: canvas, in: film)
            #expect(box == PixelRectangle(x: 960, y: 540, width: 192, height: 270))
            return
        }
        let (_, box) = placement.place(Self.image(800, 800, 320, 80), of: canvas, in: film)
        #expect("\(box.x),\(box.y) \(box.width)x\(box.height)" == expected)
    }

    /// The part of the frame that is kept turns with the frame, for which the subtitles are upright.
    @Test(arguments: [(90, "0,460 200x80"), (270, "0,560 200x80"), (0, "0,280 200x80")])
    func crop_turnsWithTheFrame(_ degrees: Int, _ expected: String) throws {
        let film = PixelSize(width: 1280, height: 720)
        let isQuarter = degrees != 0
        let frame =
            isQuarter ? PixelSize(width: 720, height: 640) : PixelSize(width: 640, height: 720)
        let placement = try Self.placement(in: frame, of: film) {
            $0.crop = PixelRectangle(x: 640, y: 0, width: 640, height: 720)
            $0.turn = FrameRotation(clockwiseDegrees: degrees)
        }
        let canvas = isQuarter ? PixelSize(width: 720, height: 1280) : film
        let (_, box) = placement.place(
            Self.image(0, isQuarter ? 1100 : 280, 200, 80), of: canvas, in: frame)
        #expect("\(box.x),\(box.y) \(box.width)x\(box.height)" == expected)
    }

    /// Bars of `contain` are aligned to chroma samples.
    @Test func oddBars_areRounded() throws {
        let frame = PixelSize(width: 1282, height: 722)
        let film = PixelSize(width: 1280, height: 720)
        let placement = try Self.placement(in: frame, of: film) { ($0.fit, $0.innerSize) = (.contain, film) }
        #expect(placement.content == PixelRectangle(x: 0, y: 0, width: 1280, height: 720))
    }

    /// Transparent borders are no part of an image.
    @Test func transparentBorders_areTrimmed() throws {
        var image = Self.image(10, 20, 4, 3)
        for at in 0..<12 where ![5, 6].contains(at) { image.pixels[at * 4 + 3] = 0 }
        let trimmed = try #require(image.trimmed())
        #expect([trimmed.x, trimmed.y, trimmed.width, trimmed.height] == [11, 21, 2, 1])
        #expect(trimmed.pixels == [UInt8](repeating: 9, count: 8))
        image.pixels = [UInt8](repeating: 0, count: 48)
        #expect(image.trimmed() == nil)
    }

    /// Frames of joined ranges show subtitles at the times of their ranges; one range keeps its times.
    @Test func times_areThoseOfTheRanges() {
        func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }
        let ranges = [(10, 12), (0, 5), (20, 21)].map {
            TimeRange(start: time($0.0), end: time($0.1))
        }
        let times = SubtitleTimes(joining: ranges)
        for (shown, section, expected) in [
            (0, 0, 10), (1, 0, 11), (2, 1, 0), (6, 1, 4), (7, 2, 20), (9, 2, 22),
        ] {
            let position = times.position(of: time(Int64(shown)))
            #expect(position.section == section && position.time == time(Int64(expected)), "\(shown)")
        }
        let one = SubtitleTimes(joining: [ranges[0]]).position(of: time(11))
        #expect(one.section == 0 && one.time == time(11))
        #expect(SubtitleTimes(offset: time(3)).position(of: time(5)).time == time(2))
    }
}
