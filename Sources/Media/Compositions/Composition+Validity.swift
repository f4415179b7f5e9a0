internal import LibAV

extension Composition {
    /// Whether all values are valid and consistent. Checked for compositions from untrusted input, and before
    /// reading.
    public var isValid: Bool {
        guard duration > .zero, duration <= .longest, canvas != nil || audioFormat != nil else {
            return false
        }
        guard sources.count <= Self.maxClips, clips.count <= Self.maxClips, layers.count <= Self.maxClips,
            audio.count <= Self.maxClips, chapters.count <= Self.maxClips, subtitles.count <= 64,
            subtitles.allSatisfy({ $0.clips.count <= Self.maxClips && $0.isValid })
        else { return false }
        if let canvas {
            guard canvas.isValid else { return false }
        } else if !clips.isEmpty || !layers.isEmpty {
            return false
        }
        if let audioFormat {
            guard (1000...768_000).contains(audioFormat.sampleRate),
                (1...64).contains(audioFormat.layout.channels)
            else { return false }
        } else if !audio.isEmpty {
            return false
        }
        return clips.allSatisfy { isValid($0.placement) } && areInOrder
            && subtitles.allSatisfy { $0.clips.allSatisfy { isValid($0) } }
            && layers.allSatisfy { isValid($0) }
            && audio.enumerated().allSatisfy { index, clip in
                isValid(clip.placement, isRepeated: clip.isRepeated)
                    && clip.volume.isValid
                    && clip.ducking.map {
                        audio.indices.contains($0.under) && $0.under != index
                            && audio[$0.under].ducking == nil && (0...1_000_000_000).contains($0.billionths)
                    } ?? true
            } && sources.allSatisfy(\.isValid)
    }

    /// Whether each clip begins and ends later than the previous one, and at most two overlap at any time.
    private var areInOrder: Bool {
        let ranges = clips.map(\.placement.timeRange)
        return zip(ranges, ranges.dropFirst()).allSatisfy { $0.start < $1.start && $0.end < $1.end }
            && zip(ranges, ranges.dropFirst(2)).allSatisfy { $0.end <= $1.start }
    }

    private func isValid(_ placement: ClipPlacement, isRepeated: Bool = false) -> Bool {
        guard sources.indices.contains(placement.source), placement.track >= 0,
            placement.sourceRange.start >= .zero, placement.sourceRange.duration > .zero,
            placement.sourceRange.end <= .longest, placement.timeRange.start >= .zero,
            placement.timeRange.duration > .zero, placement.timeRange.end <= .longest
        else { return false }
        return isRepeated || placement.isPlayable
    }

    private func isValid(_ layer: Layer) -> Bool {
        guard let canvas, layer.timeRange.start >= .zero, layer.timeRange.duration > .zero,
            layer.opacity.isValid, abs(layer.rotation) <= 360_000
        else { return false }
        switch layer.content {
        case .frames(let placement, let rectangle, let settings):
            return isValid(placement) && (1...PixelSize.maxSide).contains(rectangle.width)
                && (1...PixelSize.maxSide).contains(rectangle.height)
                && abs(rectangle.x) <= 1 << 16 && abs(rectangle.y) <= 1 << 16
                && settings.size == PixelSize(width: rectangle.width, height: rectangle.height)
        case .subtitles(let subtitles):
            return subtitles.isValid && sources.indices.contains(subtitles.source)
        case .text(let text):
            return text.text.utf8.count <= 10_000 && (1...canvas.maxTextSize).contains(text.size)
                && text.fontFile.hasPrefix("/")
                && [text.position.left, text.position.right, text.position.top, text.position.bottom]
                    .allSatisfy {
                        abs($0 ?? 0) <= 1 << 16
                    }
        }
    }
}

extension ClipPlacement {
    /// Whether the speed is between 0.01 and 100.
    var isPlayable: Bool { (0.01...100).contains(speed) }
}

extension SubtitleTrack {
    /// Whether clips are in order of their start, and the lengths of language, title and dispositions are within
    /// limits.
    var isValid: Bool {
        zip(clips, clips.dropFirst()).allSatisfy { $0.timeRange.start <= $1.timeRange.start }
            && disposition.count <= 32
            && ([language, title] + disposition).allSatisfy {
                ($0?.utf8.count ?? 0) <= 1000 && $0?.utf8.contains(0) != true
            }
    }
}

extension Canvas {
    /// Maximum text height on the canvas, in pixels.
    package var maxTextSize: Int { min(1 << 16, max(0, size.height)) * 4 }

    var isValid: Bool {
        (16...PixelSize.maxSide).contains(size.width) && (16...PixelSize.maxSide).contains(size.height)
            && frameRate.isPositive
            && (0.001...1000).contains(frameRate.double)
            && [PixelFormat.yuv420p, .yuv420p10, .yuv444p].contains(pixelFormat)
            && size.width.isMultiple(of: 2) && size.height.isMultiple(of: 2)
    }
}

extension VolumeEnvelope {
    var isValid: Bool {
        points.count <= 10_000 && points.allSatisfy { (0...1_000_000_000_000).contains($0.billionths) }
            && zip(points, points.dropFirst()).allSatisfy { $0.time < $1.time }
    }

    /// Returns the volume factor at a time, in thousandths.
    package func value(at time: MediaTime) -> Int { Int((billionths(at: time) + 500_000) / 1_000_000) }

    /// Returns the volume factor at a time, in billionths; linear between points.
    package func billionths(at time: MediaTime) -> Int64 {
        guard let first = points.first, let last = points.last else { return 1_000_000_000 }
        if time <= first.time { return first.billionths }
        guard let next = points.firstIndex(where: { $0.time > time }), next > 0 else {
            return last.billionths
        }
        let (from, to) = (points[next - 1], points[next])
        let part = (time - from.time).seconds / max(1e-9, (to.time - from.time).seconds)
        return from.billionths + Int64((Double(to.billionths - from.billionths) * part).rounded())
    }
}

extension CompositionSource {
    var isValid: Bool {
        switch self {
        case .file(let path): !path.isEmpty && path.utf8.count <= 4096 && !path.utf8.contains(0)
        case .pattern: true
        case .images(let sequence): sequence.isValid
        }
    }
}
