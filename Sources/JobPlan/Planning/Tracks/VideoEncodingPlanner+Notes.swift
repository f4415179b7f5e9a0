internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Settings and notes for the user.
extension VideoEncodingPlanner {
    mutating func describeFrames(_ size: PixelSize, aspect: Rational?) {
        if let tune = spec.tune { settings.note("tune", tune.value, at: tune.range) }
        if let passes = spec.passes {
            settings.note("passes", "\(passes.value)", at: passes.range)
        } else if spec.hasTwoPasses {
            settings.note("passes", "2", .default)
        }
        if let frames = spec.bFrames { settings.note("b_frames", "\(frames.value)", at: frames.range) }
        if let fit = spec.fit {
            settings.note("fit", fit.value.rawValue, at: fit.range)
        } else if spec.resolvedFit == .inside, let requested = spec.size?.value,
            requested.width != size.width || requested.height != size.height
        {
            settings.note("fit", FrameFit.inside.rawValue, .default)
        }
        if spec.fit?.value == .stretch { describeDistortion(to: size) }
        if let crop = prepared.settings.crop {
            settings.note("crop", "\(crop.width)x\(crop.height) at \(crop.x),\(crop.y)", at: spec.crop?.range)
        }
        if let rotation = prepared.settings.turn {
            settings.note(
                "orientation",
                "rotated by \(rotation.clockwiseDegrees)°\(rotation.isReflected ? ", mirrored" : "")",
                at: spec.orientation?.range)
        }
        if let deinterlace = spec.deinterlace {
            settings.note("deinterlace", deinterlace.value.rawValue, at: deinterlace.range)
        } else if prepared.settings.deinterlacing != .off {
            settings.note("deinterlace", "auto", .default)
        }
        if track.isInterlaced, BitstreamTraits.of(track.codec).declaresFieldsInFrames {
            let order = track.fieldOrder.map { " (\($0.rawValue) field first)" } ?? ""
            reasons.note("the first decoded frames are interlaced\(order)")
        }
        if track.has(.lateKeyframe) {
            reasons.note(
                "video track \(track.index) begins before its first keyframe: frames whose references are missing are dropped"
            )
        }
        if let color = spec.color {
            let parts = [
                targetColor.primaries, targetColor.transfer, targetColor.matrix, targetColor.range?.rawValue,
            ]
            let isConverted =
                conversion != nil || isCrossing || sourceRange != targetColor.range ?? sourceRange
            settings.note(
                "color",
                parts.map { $0 ?? "unknown" }.joined(separator: "/")
                    + (isConverted ? ", converted" : ", written"),
                at: color.range)
        } else if !prepared.settings.mapsTones,
            targetColor.matrix != track.color.matrix || targetColor.range != track.color.range,
            conversion != nil || isCrossing || sourceRange != targetColor.range ?? sourceRange
        {
            let parts = [targetColor.matrix, targetColor.range?.rawValue].map { $0 ?? "unknown" }
            settings.note("color", parts.joined(separator: "/") + ", converted", .default)
        }
        if assumesMatrix
            || !track.pixelFormat.isRGB && track.color.matrix == nil && isMatrixAssumedDifferently(size)
                && spec.color?.matrix == nil
        {
            reasons.note(
                "the source states no color matrix; \(sourceMatrix) is assumed because of its size"
            )
        }
        if let aspect = spec.pixelAspectRatio, !spec.codec.value.isStill {
            settings.note("pixel_aspect_ratio", aspect.value.description, at: aspect.range)
        } else if let aspect, aspect.isPositive, aspect != Rational(1, 1), !spec.codec.value.isStill {
            settings.note(
                "pixel_aspect_ratio", aspect.description, aspect == prepared.aspect ? .source : .default)
        }
        if let filters = spec.filters {
            settings.note("filters", filters.value.description, at: filters.range)
        }
    }

    /// Adds a note with the display aspect ratios before and after a scale that changes the aspect ratio.
    private mutating func describeDistortion(to size: PixelSize) {
        let aspect = prepared.aspect.map { $0.isPositive ? $0.double : 1 } ?? 1
        let before = Double(prepared.size.width) * aspect / Double(max(1, prepared.size.height))
        let after =
            Double(size.width) * (spec.pixelAspectRatio?.value.double ?? 1) / Double(max(1, size.height))
        guard before > 0, abs(after / before - 1) > 0.01 else { return }
        func text(_ ratio: Double) -> String {
            ThousandthsText.text(Int((ratio * 100).rounded()) * 10) + ":1"
        }
        reasons.note("`fit: stretch` distorts the frame from \(text(before)) to \(text(after))")
    }

    mutating func warn(source: PixelSize, size: PixelSize, format: PixelFormat) {
        if size.width > source.width || size.height > source.height {
            reasons.note("scaled up from \(source) to \(size)")
        }
        if spec.size == nil, size != source {
            reasons.note("odd size \(source) becomes \(size), which \(format) requires")
        }
        if prepared.isInterlaced, FramePlanner.moves(spec, track) {
            reasons.note(
                "fields are mixed: interlaced frames are scaled as progressive ones (`deinterlace: off`)")
        } else if prepared.isInterlaced, size != source {
            reasons.note(
                "fields are mixed: interlaced frames are scaled from \(source) to \(size) as progressive ones"
            )
        } else if prepared.isInterlaced,
            spec.codec.value.frames.fields == .unmarked || !prepared.settings.isEmpty
        {
            reasons.note(
                "interlaced frames are encoded as progressive ones by \(spec.codec.value.name)")
        }
        // If the encoder doesn't accept captions, their loss is counted in the frames and reported after the
        // run.
        if let rate = spec.frameRate?.value, let own = track.frameRate,
            Int64(rate.num) * Int64(own.den) < Int64(own.num) * Int64(rate.den),
            spec.codec.value.frames.acceptsCaptions,
            BitstreamTraits.of(track.codec).carriesCaptions
        {
            reasons.note("closed captions of dropped frames are lost, if there are any")
        }
        if track.hasSeparateAlpha, !original.pixelFormat.hasAlpha {
            reasons.note("the alpha plane is dropped: the decoder of \(track.codec) doesn't return it")
        }
        if original.pixelFormat.hasAlpha, !format.hasAlpha {
            reasons.note("the alpha plane is dropped: \(format) has none")
        }
    }
}

extension VideoEncodeSpec {
    /// Scaling mode for a size with both sides; nil if the job sets one side or none.
    var resolvedFit: FrameFit? {
        guard let size = size?.value, size.width != nil, size.height != nil else { return nil }
        return fit?.value ?? (pixelAspectRatio == nil ? .inside : .stretch)
    }
}
