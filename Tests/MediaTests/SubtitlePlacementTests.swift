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

    /// Returns the rectangle of an image in frames of a size, such as `800,900 320x80`.
    private func placed(
        _ image: SubtitleImage, canvas: PixelSize = disc, in frame: PixelSize,
        _ change: (inout VideoOutputSettings) -> Void = { _ in }
    ) -> String {
        var settings = VideoOutputSettings()
        change(&settings)
        let placement = SubtitlePlacement(settings, of: Self.disc, into: frame)
        let (_, box) = placement.place(image, of: canvas, in: frame)
        return "\(box.x),\(box.y) \(box.width)x\(box.height)"
    }

    @Test func image_isScaledWithTheFrame() {
        let image = Self.image(800, 900, 320, 80)
        #expect(placed(image, in: Self.disc) == "800,900 320x80")
        #expect(placed(image, in: PixelSize(width: 960, height: 540)) == "400,450 160x40")
        // The canvas covers the frame, whatever its size is.
        let canvas = PixelSize(width: 3840, height: 2160)
        #expect(placed(image, canvas: canvas, in: Self.disc) == "400,450 160x40")
        #expect(
            placed(image, canvas: PixelSize(width: 0, height: 0), in: Self.disc) == "800,900 320x80")
    }

    /// An image in a part of the frame that is cropped is moved into the frame.
    @Test func image_ofACroppedFrame_isMovedIntoIt() {
        let frame = PixelSize(width: 1920, height: 800)
        func crop(_ settings: inout VideoOutputSettings) {
            settings.crop = PixelRectangle(x: 0, y: 140, width: 1920, height: 800)
        }
        #expect(placed(Self.image(800, 900, 320, 80), in: frame, crop) == "800,720 320x80")
        #expect(placed(Self.image(800, 800, 320, 80), in: frame, crop) == "800,660 320x80")
        #expect(placed(Self.image(800, 40, 320, 80), in: frame, crop) == "800,0 320x80")
    }

    /// Bars around the picture are no part of the canvas; a picture that exceeds the frame is.
    @Test func image_isPlacedInThePicture() {
        let square = PixelSize(width: 1080, height: 1080)
        let contained = placed(Self.image(960, 540, 320, 80), in: square) {
            ($0.fit, $0.innerSize, $0.size) = (.contain, PixelSize(width: 1080, height: 608), square)
        }
        #expect(contained == "540,540 180x46")
        let covered = placed(Self.image(960, 540, 320, 80), in: square) {
            ($0.fit, $0.innerSize, $0.size) = (.cover, PixelSize(width: 1920, height: 1080), square)
        }
        #expect(covered == "540,540 320x80")
    }

    /// An image that is larger than the frame is reduced to it, with its aspect ratio.
    @Test func largeImage_isReduced() {
        let covered = placed(Self.image(0, 800, 1920, 100), in: PixelSize(width: 608, height: 1080)) {
            ($0.fit, $0.innerSize) = (.cover, PixelSize(width: 1920, height: 1080))
        }
        #expect(covered == "0,800 608x32")
        #expect(placed(Self.image(0, 0, 8, 8), in: PixelSize(width: 3, height: 3)) == "0,0 2x2")
    }

    /// An image that isn't scaled keeps its pixels: at odd positions, transparent pixels are added.
    @Test func unscaledImage_isPadded() {
        let placement = SubtitlePlacement(VideoOutputSettings(), of: Self.disc, into: Self.disc)
        let (image, box) = placement.place(Self.image(801, 101, 3, 1), of: Self.disc, in: Self.disc)
        #expect(box == PixelRectangle(x: 800, y: 100, width: 4, height: 2))
        let row = [UInt8](repeating: 0, count: 16)
        #expect(image.pixels == row + [0, 0, 0, 0] + [UInt8](repeating: 9, count: 12))
        let (even, _) = placement.place(Self.image(800, 100, 4, 2), of: Self.disc, in: Self.disc)
        #expect(even.pixels.count == 32 && even.pixels.allSatisfy { $0 == 9 })
    }

    /// In a composition, the canvas covers the source's picture, which is fitted into the frames.
    @Test func canvas_isFittedIntoAComposition() {
        let frame = PixelSize(width: 720, height: 1280)
        let placement = SubtitlePlacement(fitting: (1920, 1080), into: frame)
        #expect(placement.picture == PixelRectangle(x: 0, y: 437, width: 720, height: 406))
        let (_, box) = placement.place(Self.image(960, 1000, 192, 54), of: Self.disc, in: frame)
        #expect(box == PixelRectangle(x: 360, y: 812, width: 72, height: 20))
    }

    /// A subtitle of one of several joined ranges ends with its range.
    @Test func sections_areRangesOfTheConcatenation() {
        let second = MediaTime(value: 1, timescale: 1)
        let times = SubtitleTimes(sectionStarts: [.zero, second])
        #expect(times.section(of: .zero) == 0 && times.section(of: second) == 1)
        #expect(SubtitleTimes().section(of: second) == SubtitleTimes().section(of: .zero))
    }
}
