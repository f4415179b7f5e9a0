/// Rotation and reflection of decoded frames for display: the container's 3×3 matrix (AVFoundation's
/// `preferredTransform`).
public struct DisplayTransform: Hashable, Codable, Sendable {
    /// Nine numbers in the container's order: 16.16 fixed point, the third column 2.30.
    public let matrix: [Int32]

    /// Creates a transform from nine numbers; nil for any other count.
    public init?(matrix: [Int32]) {
        guard matrix.count == 9 else { return nil }
        self.matrix = matrix
    }

    /// Creates a rotation by a multiple of 90°, of frames that are mirrored horizontally before if `mirrored`; nil for
    /// other angles. Negative angles are counterclockwise.
    public init?(clockwiseDegrees: Int, mirrored: Bool = false) {
        let one: Int32 = 1 << 16
        let (cosine, sine): (Int32, Int32)
        switch clockwiseDegrees % 360 {
        case 0: (cosine, sine) = (one, 0)
        case 90, -270: (cosine, sine) = (0, one)
        case 180, -180: (cosine, sine) = (-one, 0)
        case 270, -90: (cosine, sine) = (0, -one)
        default: return nil
        }
        let sign: Int32 = mirrored ? -1 : 1
        matrix = [sign * cosine, sign * sine, 0, -sine, cosine, 0, 0, 0, 1 << 30]
    }

    /// Decodes nine numbers; throws for any other count.
    public init(from decoder: any Decoder) throws {
        let matrix = try decoder.container(keyedBy: CodingKeys.self).decode([Int32].self, forKey: .matrix)
        guard matrix.count == 9 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "the matrix has \(matrix.count) numbers; expected 9"))
        }
        self.matrix = matrix
    }

    /// Whether frames are neither rotated nor reflected; translation is ignored.
    public var isIdentity: Bool { matrix[0] > 0 && matrix[4] > 0 && matrix[1] == 0 && matrix[3] == 0 }

    /// Whether frames are mirrored.
    public var isReflected: Bool { part(0) * part(4) < part(1) * part(3) }

    /// Returns a matrix element as 64 bits, so that it can be negated and multiplied without overflow.
    private func part(_ index: Int) -> Int64 { Int64(matrix[index]) }

    /// Whether width and height are swapped: a rotation by 90° or 270°.
    public var isQuarterTurn: Bool { matrix[0] == 0 && matrix[4] == 0 && matrix[1] != 0 && matrix[3] != 0 }

    /// Clockwise rotation in degrees, applied after any reflection; nil unless it is a multiple of 90.
    public var clockwiseDegrees: Int? {
        let a = isReflected ? -part(0) : part(0)
        let b = isReflected ? -part(1) : part(1)
        switch (a.signum(), b.signum()) {
        case (1, 0): return 0
        case (0, 1): return 90
        case (-1, 0): return 180
        case (0, -1): return 270
        default: return nil
        }
    }

    /// The transform as a rotation of the frames; nil unless it is a multiple of 90°.
    package var rotation: FrameRotation? {
        clockwiseDegrees.map { FrameRotation(clockwiseDegrees: $0, isReflected: isReflected) }
    }
}
