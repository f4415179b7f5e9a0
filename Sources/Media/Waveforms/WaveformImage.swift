package import LibAV

/// A drawing of a waveform: one column per pixel of width, with the channels stacked vertically.
public struct WaveformImage: Sendable {
    /// The measure that a column shows.
    public enum Measure: String, CaseIterable, Codable, Sendable {
        /// From the minimum to the maximum sample.
        case peak
        /// The root mean square, symmetrical about the center line.
        case rms
    }

    /// An RGBA color with 8 bits per component.
    public struct Color: Hashable, Codable, Sendable {
        /// Components from 0 to 255.
        public var red, green, blue, alpha: UInt8

        /// Parses `#rrggbb` or `#rrggbbaa`; nil for anything else.
        public init?(_ text: String) {
            let digits = text.dropFirst()
            guard text.hasPrefix("#"), [6, 8].contains(digits.utf8.count),
                digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                let value = UInt32(digits, radix: 16)
            else { return nil }
            let whole = digits.utf8.count == 6 ? value << 8 | 0xff : value
            (red, green) = (UInt8(truncatingIfNeeded: whole >> 24), UInt8(truncatingIfNeeded: whole >> 16))
            (blue, alpha) = (UInt8(truncatingIfNeeded: whole >> 8), UInt8(truncatingIfNeeded: whole))
        }

        /// The color as `#rrggbb`, without alpha.
        var hex: String {
            "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    private let data: WaveformData
    private let size: PixelSize
    private let measure: Measure

    /// Creates a drawing. `data` may have more pixels than the image has columns; each column then combines several
    /// pixels.
    public init(_ data: WaveformData, size: PixelSize, measure: Measure) {
        self.data = data
        self.size = size
        self.measure = measure
    }

    /// The height of each channel, in pixels.
    private var channelHeight: Double { Double(size.height) / Double(data.channels) }

    /// Returns the upper and the lower end of a column, in pixels from the top; nil without samples.
    private func ends(_ column: Int, _ channel: Int) -> (top: Double, bottom: Double)? {
        guard let found = data.column(column, of: size.width, channel: channel) else { return nil }
        let root = found.power.squareRoot()
        let (low, high) = measure == .rms ? (-root, root) : (found.low, found.high)
        let middle = (Double(channel) + 0.5) * channelHeight
        return (middle - high * channelHeight / 2, middle - low * channelHeight / 2)
    }

    /// Returns the drawing as SVG, with a path for each channel.
    public func svg(background: Color, waveform: Color) -> [UInt8] {
        func opacity(_ color: Color) -> String {
            color.alpha == 255
                ? "" : " fill-opacity=\"\((Double(color.alpha) / 255 * 1000).rounded() / 1000)\""
        }
        func number(_ value: Double) -> String {
            let tenths = Int((value * 10).rounded())
            return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
        }
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(size.width)\" height=\"\(size.height)\" viewBox=\"0 0 \(size.width) \(size.height)\">\n"
        if background.alpha > 0 {
            text +=
                "<rect width=\"100%\" height=\"100%\" fill=\"\(background.hex)\"\(opacity(background))/>\n"
        }
        for channel in 0..<data.channels {
            text += "<path fill=\"\(waveform.hex)\"\(opacity(waveform)) d=\""
            for column in 0..<size.width {
                guard let (top, bottom) = ends(column, channel) else { continue }
                text += "M\(column) \(number(top))h1V\(number(max(bottom, top + 0.5)))h-1z"
            }
            text += "\"/>\n"
        }
        return Array((text + "</svg>\n").utf8)
    }

    /// Returns the drawing as an RGBA frame.
    package func frame(background: Color, waveform: Color) throws(AVError) -> Frame {
        guard let format = PixelFormat(named: "rgba") else { throw AVError(code: 0, operation: "rgba") }
        let frame = try Frame.video(format: format, width: size.width, height: size.height)
        var inside = [Bool](repeating: false, count: size.width * size.height)
        for channel in 0..<data.channels {
            for column in 0..<size.width {
                guard let (top, bottom) = ends(column, channel) else { continue }
                let first = max(0, min(size.height - 1, Int(top.rounded(.down))))
                let last = max(first, min(size.height - 1, Int(bottom.rounded(.up)) - 1))
                for row in first...last { inside[row * size.width + column] = true }
            }
        }
        _ = frame.withPixels(ofPlane: 0) { bytes, plane in
            for row in 0..<size.height {
                for column in 0..<size.width {
                    let color = inside[row * size.width + column] ? waveform : background
                    let offset = row * plane.bytesPerRow + 4 * column
                    bytes[offset] = color.red
                    bytes[offset + 1] = color.green
                    bytes[offset + 2] = color.blue
                    bytes[offset + 3] = color.alpha
                }
            }
        }
        return frame
    }
}
