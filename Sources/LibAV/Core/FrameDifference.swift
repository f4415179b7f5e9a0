internal import CFFmpeg
internal import Glibc

extension Frame {
    /// The difference between two frames of the same size and format.
    package struct Difference: Hashable, Sendable {
        /// Whether all samples of all planes are equal.
        package var isNone: Bool
        /// The mean absolute difference of the first plane's samples, as a fraction of the maximum value.
        package var mean: Double
    }

    /// Compares two frames sample by sample. Returns nil if their sizes or formats differ, or for samples of more than
    /// 16 bits.
    package func difference(from other: borrowing Frame) -> Difference? {
        guard width > 0, width == other.width, height == other.height,
            raw.pointee.format == other.raw.pointee.format
        else { return nil }
        let format = AVPixelFormat(rawValue: raw.pointee.format)
        guard let descriptor = av_pix_fmt_desc_get(format) else { return nil }
        let depth = Int(descriptor.pointee.comp.0.depth)
        guard depth <= 16 else { return nil }
        var result = Difference(isNone: true, mean: 0)
        for plane in 0..<Int(max(0, av_pix_fmt_count_planes(format))) {
            let length = Int(av_image_get_linesize(format, raw.pointee.width, Int32(plane)))
            guard length > 0 else { return nil }
            let compared = withPlane(plane) { mine, stride in
                other.withPlane(plane) { theirs, otherStride in
                    Self.compare(
                        mine, stride, theirs, otherStride, length: length,
                        measured: plane == 0 ? depth : nil)
                }
            }
            guard case .some(.some(let (isEqual, mean))) = compared else { return nil }
            if !isEqual { result.isNone = false }
            if plane == 0 { result.mean = mean }
        }
        return result
    }

    private static func compare(
        _ a: UnsafeRawBufferPointer, _ aStride: Int, _ b: UnsafeRawBufferPointer, _ bStride: Int, length: Int,
        measured depth: Int?
    ) -> (isEqual: Bool, mean: Double) {
        guard aStride > 0, bStride > 0, let left = a.baseAddress, let right = b.baseAddress else {
            return (false, 1)
        }
        let rows = min(a.count / aStride, b.count / bStride)
        var isEqual = true
        var sum: UInt64 = 0
        for row in 0..<rows {
            let (one, two) = (left + row * aStride, right + row * bStride)
            if memcmp(one, two, length) == 0 { continue }
            isEqual = false
            guard let depth else { continue }
            if depth > 8 {
                for i in 0..<(length / 2) {
                    let x = Int32(one.loadUnaligned(fromByteOffset: 2 * i, as: UInt16.self))
                    let y = Int32(two.loadUnaligned(fromByteOffset: 2 * i, as: UInt16.self))
                    sum += UInt64(abs(x - y))
                }
            } else {
                for i in 0..<length {
                    let x = Int32(one.load(fromByteOffset: i, as: UInt8.self))
                    let y = Int32(two.load(fromByteOffset: i, as: UInt8.self))
                    sum += UInt64(abs(x - y))
                }
            }
        }
        let bits = depth ?? 8
        let samples = max(1, rows * (bits > 8 ? length / 2 : length))
        return (isEqual, Double(sum) / Double(samples) / Double((1 << bits) - 1))
    }
}
