public import LibAV

/// A type of pixel components in memory: `UInt8`, `UInt16` or `Float`.
public protocol PixelComponent: BitwiseCopyable, Sendable {}

extension UInt8: PixelComponent {}
extension UInt16: PixelComponent {}
extension Float: PixelComponent {}

/// Typed access to the components of planes, without padding. Bounds are checked, and components are valid only during
/// the call.
extension PixelBuffer {
    /// Returns the memory layout of a plane.
    /// - Throws: `MediaError.invalidArgument` if there is no such plane.
    public func layout(ofPlane index: Int) throws -> FramePlane { try withPlane(index) { _, plane in plane } }

    /// Calls `body` for each row of a plane from top to bottom, with its components: one for each pixel of a plane of
    /// gray or of a single component, several for packed pixels.
    /// - Throws: `MediaError.invalidArgument` if there is no such plane, or if its components have another type: `UInt8` for at
    ///   most 8 bits, `UInt16` for at most 16, `Float` for floating point; and the errors of `body`.
    public func withRows<Component: PixelComponent>(
        ofPlane index: Int, as type: Component.Type, _ body: (_ row: Int, Span<Component>) throws -> Void
    ) throws {
        try check(type)
        try withPlane(index) { bytes, plane in
            for row in 0..<plane.rows {
                let start = row * plane.bytesPerRow
                let components = UnsafeRawBufferPointer(rebasing: bytes[start..<start + plane.rowSize])
                try components.withMemoryRebound(to: Component.self) { try body(row, $0.span) }
            }
        }
    }

    /// Calls `body` for each row of a plane with its components for writing.
    /// - Throws: as `withRows`, and `MediaError.misuse` if the buffer was passed on.
    public func withMutableRows<Component: PixelComponent>(
        ofPlane index: Int, as type: Component.Type,
        _ body: (_ row: Int, inout MutableSpan<Component>) throws -> Void
    ) throws {
        try check(type)
        try withMutablePlane(index) { bytes, plane in
            for row in 0..<plane.rows {
                let start = row * plane.bytesPerRow
                let components = UnsafeMutableRawBufferPointer(
                    rebasing: bytes[start..<start + plane.rowSize])
                try components.withMemoryRebound(to: Component.self) { components in
                    var span = components.mutableSpan
                    try body(row, &span)
                }
            }
        }
    }

    /// Returns a copy of a plane's components, row by row.
    /// - Throws: as `withRows`.
    public func components<Component: PixelComponent>(
        ofPlane index: Int, as type: Component.Type
    ) throws -> [Component] {
        var result: [Component] = []
        let plane = try layout(ofPlane: index)
        result.reserveCapacity(plane.rows * plane.rowSize / MemoryLayout<Component>.size)
        try withRows(ofPlane: index, as: type) { _, row in
            for column in row.indices { result.append(row[column]) }
        }
        return result
    }

    private func check<Component: PixelComponent>(_ type: Component.Type) throws(MediaError) {
        guard let size = pixelFormat.componentSize else {
            throw .invalidArgument(
                "\(pixelFormat) has no separate components; use `withPlane`, or another pixel format")
        }
        guard size == MemoryLayout<Component>.size else {
            throw .invalidArgument(
                "the components of \(pixelFormat) are \(size == 1 ? "UInt8" : size == 2 ? "UInt16" : "Float"), not \(Component.self)"
            )
        }
    }
}
