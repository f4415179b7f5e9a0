internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Adaptation of an image output's encoding to a track.
extension ImagesSpec {
    /// Returns a rule adapted to a track: upright frames with square pixels, in the requested size.
    func rule(_ rule: TrackRule, for track: TrackDescription) -> TrackRule {
        guard case .encodeVideo(var spec) = rule.action else { return rule }
        if aperture == .clean, track.cleanAperture != nil { spec.crop = Located(.cleanAperture, at: range) }
        if track.isInterlaced { spec.deinterlace = Located(.auto, at: range) }
        // Both sides are even in sheets, in JPEG files, because of chroma subsampling, and with color conversion, which
        // processes pixels in pairs.
        let isConverted = FramePlanner.resolved(spec, for: track).color != nil
        let step = sheet != nil || isConverted || spec.codec.value.codec.fixedColor == .jpeg ? 2.0 : 1.0
        if let size = stillSize(of: track, step: step) {
            spec.size = Located(
                Dimensions(width: size.width, height: size.height), at: self.size?.range ?? range)
            spec.pixelAspectRatio = Located(Rational(1, 1), at: range)
        }
        var rule = rule
        rule.action = .encodeVideo(spec)
        return rule
    }

    /// Returns the size of still images; nil to keep the size of the frame.
    private func stillSize(of track: TrackDescription, step: Double) -> PixelSize? {
        var (width, height) = (Double(track.width), Double(track.height))
        if aperture == .clean, let clean = track.cleanAperture {
            (width, height) = (min(width, clean.width.double), min(height, clean.height.double))
            (width, height) = (width.rounded(.down), height.rounded(.down))
        }
        if aperture != .encoded, let aspect = track.pixelAspectRatio, aspect.isPositive {
            width *= aspect.double
        }
        if isUpright, track.transform?.isQuarterTurn == true { (width, height) = (height, width) }
        guard width >= 1, height >= 1 else { return nil }
        let isSquare = aperture == .encoded || (track.pixelAspectRatio ?? Rational(1, 1)) == Rational(1, 1)
        let isWhole = [width, height].allSatisfy { $0.truncatingRemainder(dividingBy: step) == 0 }
        guard let requested = size?.value else {
            return isSquare && isWhole ? nil : Self.rounded(width, height, to: step)
        }
        let scale = min(
            requested.width.map { Double($0) / width } ?? .infinity,
            requested.height.map { Double($0) / height } ?? .infinity)
        return Self.rounded(width * scale, height * scale, to: step)
    }

    private static func rounded(_ width: Double, _ height: Double, to step: Double) -> PixelSize {
        func side(_ value: Double) -> Int { Int(max(step, min(65_536, (value / step).rounded() * step))) }
        return PixelSize(width: side(width), height: side(height))
    }
}

extension ImagesSpec.Selection {
    /// Returns whether the number or the position of the images depends on the end of the source.
    func dependsOnEnd(at guess: MediaTime) -> Bool {
        switch self {
        case .at(let times):
            times.contains { written in
                if case .absolute(let time) = written.value {
                    time > guess
                } else {
                    written.value.countsFromEnd
                }
            }
        case .every, .count: true
        case .keyFrames, .scenes: false
        }
    }
}

extension OutputPlan {
    /// Turns the output into images of its only track; has no effect if the images couldn't be planned.
    mutating func setImages(_ images: ImagesPlan?) {
        guard let images else { return }
        kind = .images(images)
        destination = images.stills.first?.destination ?? destination
        expectedDuration = .zero
        let count = images.stills.count
        for index in tracks.indices {
            tracks[index].expected.frames = count
            tracks[index].expected.isExact = true
        }
        expectedSize = SizeEstimate.bytes(of: images, of: tracks)
    }
}
