package import Media

/// Thumbnails at equal intervals, as tiles of one image, from left to right and from top to bottom.
package struct ThumbnailSheet: Codable, Hashable, Sendable {
    /// A format of images that both manifests can name.
    package enum Format: String, Codable, Hashable, Sendable, CaseIterable {
        case jpeg
        case png

        /// Extension of files.
        var fileExtension: String { self == .jpeg ? "jpg" : "png" }
    }

    package var format: Format
    package var columns: Int
    package var rows: Int
    /// Width of a tile in pixels.
    package var width: Int
    /// Height of a tile in pixels.
    package var height: Int
    /// Time from one tile to the next; each is presented until the next one.
    package var interval: MediaTime
    /// Size of the image file in bytes.
    package var fileSize: Int64

    package init(
        format: Format, columns: Int, rows: Int, width: Int, height: Int, interval: MediaTime, fileSize: Int64
    ) {
        (self.format, self.columns, self.rows, self.width) = (format, columns, rows, width)
        (self.height, self.interval, self.fileSize) = (height, interval, fileSize)
    }

    /// Time of all tiles together, used or not.
    var duration: MediaTime { interval.multiplied(by: Int64(columns * rows), dividedBy: 1) }

    /// The reason why the values are out of bounds; nil if they are valid.
    var problem: String? {
        guard (1...9999).contains(columns), (1...9999).contains(rows) else {
            return "the sheet has \(columns) columns and \(rows) rows"
        }
        guard (1...1 << 20).contains(width), (1...1 << 20).contains(height) else {
            return "the size of tiles is \(width)x\(height)"
        }
        guard interval > .zero, interval <= MediaTime(value: 86_400 * 365, timescale: 1) else {
            return "the interval is \(interval) s"
        }
        return (1...StreamingPackage.maxSize).contains(fileSize) ? nil : "the file size is \(fileSize)"
    }
}
