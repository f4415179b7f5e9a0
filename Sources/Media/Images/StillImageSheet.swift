package import LibAV

/// Combines still images of one size into a sheet (libavfilter's `tile`). Confined to one queue.
package final class StillImageSheet {
    private let columns: Int
    private let rows: Int
    private var graph: FilterGraph?
    private var count: Int64 = 0

    /// Creates a sheet with this number of columns and rows; unused tiles stay black.
    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// Adds a still image, from left to right and from top to bottom.
    package func add(_ frame: borrowing Frame) throws {
        let copy = try frame.reference()
        do throws(AVError) {
            if graph == nil {
                graph = try FilterGraph.video(
                    [FilterStep("tile", ["layout": "\(columns)x\(rows)"])], like: copy,
                    timeBase: Rational(1, 25), sampleAspectRatio: Rational(1, 1), frameRate: nil)
            }
            copy.pts = count
            count += 1
            try graph?.send(copy)
        } catch {
            throw MediaError.encoding(track: .part(.sheet), error)
        }
    }

    /// Returns the complete sheet; throws if it has no images.
    package func finish() throws -> Frame {
        do throws(AVError) {
            let frame = try Frame()
            if case .ready? = try graph?.receive(into: frame) { return frame }
            try graph?.sendEnd(at: count)
            if case .ready? = try graph?.receive(into: frame) { return frame }
        } catch {
            throw MediaError.encoding(track: .part(.sheet), error)
        }
        throw MediaError.invalidArgument("the sheet has no images")
    }
}
