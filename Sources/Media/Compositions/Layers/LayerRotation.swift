internal import LibAV

/// Rotates frames of a layer around their center (libavfilter's `rotate`, and `transpose` for multiples of 90°).
/// Uncovered pixels become transparent. Confined to one queue.
final class LayerRotation {
    /// Clockwise angle in thousandths of a degree, less than 360,000.
    private let angle: Int
    private let filter = FrameFilter("rotating a layer")
    private let edging = FrameFilter("rotating a layer")
    private var count: Int64 = 0

    /// Creates a rotation by thousandths of a degree; nil if the angle is a multiple of 360°.
    init?(_ angle: Int) {
        guard angle % 360_000 != 0 else { return nil }
        self.angle = (angle % 360_000 + 360_000) % 360_000
    }

    private var steps: [FilterStep] {
        switch angle {
        case 90_000: return [FilterStep("transpose", ["dir": "clock"])]
        case 180_000: return [FilterStep("hflip"), FilterStep("vflip")]
        case 270_000: return [FilterStep("transpose", ["dir": "cclock"])]
        default:
            let radians = "\(angle)*PI/180000"
            // Dimensions change by multiples of four, because `overlay` supports even positions only.
            return [
                FilterStep(
                    "rotate",
                    [
                        "angle": radians, "out_w": "iw+4*ceil((rotw(\(radians))-iw)/4)",
                        "out_h": "ih+4*ceil((roth(\(radians))-ih)/4)", "fillcolor": "black@0",
                        "bilinear": "1",
                    ])
            ]
        }
    }

    /// Returns the rotated frame, enlarged to contain all of its pixels.
    func rotate(_ frame: consuming Frame) throws(AVError) -> Frame {
        defer { count += 1 }
        if angle % 90_000 == 0 {
            return try filter.frame(of: frame, at: count) { frame throws(AVError) in
                try Self.graph(steps, like: frame)
            }
        }
        // Premultiplied alpha keeps the colors of transparent pixels from affecting visible ones.
        return try filter.frame(of: try edged(frame), at: count) { frame throws(AVError) in
            try Self.graph(
                [
                    FilterStep("format", ["pix_fmts": "yuva444p"]),
                    FilterStep("premultiply", ["inplace": "1"]),
                ] + steps + [FilterStep("unpremultiply", ["inplace": "1"])], like: frame)
        }
    }

    /// Adds transparent borders with the colors of the edges: `rotate` antialiases edges only inside the frame.
    private func edged(_ frame: consuming Frame) throws(AVError) -> Frame {
        let edge = 2
        let edged = try edging.frame(of: frame, at: count) { frame throws(AVError) in
            try Self.graph(
                [
                    FilterStep(
                        "pad",
                        ["w": "iw+\(2 * edge)", "h": "ih+\(2 * edge)", "x": "\(edge)", "y": "\(edge)"]),
                    FilterStep(
                        "fillborders",
                        [
                            "left": "\(edge)", "right": "\(edge)", "top": "\(edge)", "bottom": "\(edge)",
                            "mode": "smear",
                        ]),
                ], like: frame)
        }
        edged.clearAlpha(across: edge, along: edge)
        return edged
    }

    private static func graph(_ steps: [FilterStep], like frame: borrowing Frame) throws(AVError)
        -> FilterGraph
    {
        try FilterGraph.video(
            steps + [FilterStep("format", ["pix_fmts": "\(frame.pixelFormat)"])], like: frame,
            timeBase: Rational(1, 1000), sampleAspectRatio: Rational(1, 1), frameRate: nil)
    }
}

extension Frame {
    /// Makes `across` columns and `along` rows at each edge of the frame transparent.
    borrowing func clearAlpha(across: Int, along: Int) {
        _ = withPixels(ofPlane: 3) { bytes, plane in
            for row in 0..<plane.rows {
                let isInside = row >= along && row < plane.rows - along
                let start = row * plane.bytesPerRow
                for column in 0..<plane.rowSize
                where !isInside || column < across || column >= plane.rowSize - across {
                    bytes[start + column] = 0
                }
            }
        }
    }

    /// Returns the bounding box of the visible pixels, extended to even positions; nil if none is visible, or without
    /// alpha.
    func visible() -> PixelRectangle? {
        let box = withPixels(ofPlane: 3) { bytes, plane -> PixelRectangle? in
            var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
            for row in 0..<plane.rows {
                let start = row * plane.bytesPerRow
                for column in 0..<plane.rowSize where bytes[start + column] > 0 {
                    (left, right) = (min(left, column), max(right, column))
                    (top, bottom) = (min(top, row), max(bottom, row))
                }
            }
            guard right >= 0 else { return nil }
            let (x, y) = (left & ~1, top & ~1)
            return PixelRectangle(
                x: x, y: y, width: (right - x) / 2 * 2 + 2, height: (bottom - y) / 2 * 2 + 2)
        }
        return box ?? nil
    }

    /// Returns the frame cropped to a rectangle.
    func cut(to box: PixelRectangle) throws(AVError) -> Frame {
        let crop = FilterStep(
            "crop",
            [
                "out_w": "\(box.width)", "out_h": "\(box.height)", "x": "\(box.x)", "y": "\(box.y)",
                "exact": "1",
            ])
        return try FrameFilter("cropping a layer").frame(of: try reference(), at: 0) {
            frame throws(AVError) in
            try FilterGraph.video(
                [crop], like: frame, timeBase: Rational(1, 1000), sampleAspectRatio: Rational(1, 1),
                frameRate: nil)
        }
    }
}
