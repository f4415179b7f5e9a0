internal import LibAV

extension Composition {
    /// Whether all values are valid and consistent. Checked for compositions from untrusted input, and before
    /// reading.
    public var isSound: Bool {
        guard duration > .zero, duration <= .longest, canvas != nil || audioForm != nil else { return false }
        guard sources.count <= Self.mostClips, clips.count <= Self.mostClips, layers.count <= Self.mostClips,
            audio.count <= Self.mostClips, chapters.count <= Self.mostClips, subtitles.count <= 64,
            subtitles.allSatisfy({ $0.clips.count <= Self.mostClips && $0.isSound })
        else { return false }
        if let canvas {
            guard canvas.isSound else { return false }
        } else if !clips.isEmpty || !layers.isEmpty {
            return false
        }
        if let audioForm {
            guard (1000...768_000).contains(audioForm.sampleRate),
                (1...64).contains(audioForm.layout.channels)
            else { return false }
        } else if !audio.isEmpty {
            return false
        }
        return clips.allSatisfy { isSound($0.placement) } && areInOrder
            && subtitles.allSatisfy { $0.clips.allSatisfy { isSound($0) } }
            && layers.allSatisfy { isSound($0) }
            && audio.enumerated().allSatisfy { index, clip in
                isSound(clip.placement, isRepeated: clip.isRepeated)
                    && clip.volume.isSound
                    && clip.ducking.map {
                        audio.indices.contains($0.under) && $0.under != index
                            && audio[$0.under].ducking == nil && (0...1_000_000_000).contains($0.billionths)
                    } ?? true
            } && sources.allSatisfy(\.isSound)
    }

    /// Whether each clip begins and ends after the previous one, and at most two overlap.
    private var areInOrder: Bool {
        let ranges = clips.map(\.placement.timeRange)
        return zip(ranges, ranges.dropFirst()).allSatisfy { $0.start < $1.start && $0.end < $1.end }
            && zip(ranges, ranges.dropFirst(2)).allSatisfy { $0.end <= $1.start }
    }

    private func isSound(_ placement: ClipPlacement, isRepeated: Bool = false) -> Bool {
        guard sources.indices.contains(placement.source), placement.track >= 0,
            placement.sourceRange.start >= .zero, placement.sourceRange.duration > .zero,
            placement.sourceRange.end <= .longest, placement.timeRange.start >= .zero,
            placement.timeRange.duration > .zero, placement.timeRange.end <= .longest
        else { return false }
        return isRepeated || placement.isPlayable
    }

    private func isSound(_ layer: Layer) -> Bool {
        guard let canvas, layer.timeRange.start >= .zero, layer.timeRange.duration > .zero,
            layer.opacity.isSound, abs(layer.rotation) <= 360_000
        else { return false }
        switch layer.content {
        case .frames(let placement, let place, let settings):
            return isSound(placement) && (1...16_384).contains(place.width)
                && (1...16_384).contains(place.height)
                && abs(place.x) <= 1 << 16 && abs(place.y) <= 1 << 16
                && settings.size == PixelSize(width: place.width, height: place.height)
        case .subtitles(let subtitles):
            return subtitles.isSound && sources.indices.contains(subtitles.source)
        case .text(let text):
            return text.text.utf8.count <= 10_000 && (1...canvas.mostTextSize).contains(text.size)
                && text.fontFile.hasPrefix("/")
                && [text.place.left, text.place.right, text.place.top, text.place.bottom].allSatisfy {
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
    /// Whether clips are in order of their start, and language, title and dispositions have acceptable lengths.
    var isSound: Bool {
        zip(clips, clips.dropFirst()).allSatisfy { $0.timeRange.start <= $1.timeRange.start }
            && disposition.count <= 32
            && ([language, title] + disposition).allSatisfy {
                ($0?.utf8.count ?? 0) <= 1000 && $0?.utf8.contains(0) != true
            }
    }
}

extension Canvas {
    /// Maximum text height on the canvas, in pixels.
    package var mostTextSize: Int { min(1 << 16, max(0, size.height)) * 4 }

    var isSound: Bool {
        (16...16_384).contains(size.width) && (16...16_384).contains(size.height) && frameRate.isPositive
            && (0.001...1000).contains(frameRate.double)
            && [PixelFormat.yuv420p, .yuv420p10, .yuv444p].contains(pixelFormat)
            && size.width.isMultiple(of: 2) && size.height.isMultiple(of: 2)
    }
}

extension VolumeEnvelope {
    var isSound: Bool {
        points.count <= 10_000 && points.allSatisfy { (0...1_000_000_000_000).contains($0.billionths) }
            && zip(points, points.dropFirst()).allSatisfy { $0.time < $1.time }
    }

    /// The factor at a time, in thousandths.
    package func value(at time: MediaTime) -> Int { Int((billionths(at: time) + 500_000) / 1_000_000) }

    /// The factor at a time, in billionths.
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
    var isSound: Bool {
        switch self {
        case .file(let path): !path.isEmpty && path.utf8.count <= 4096 && !path.utf8.contains(0)
        case .pattern: true
        case .images(let sequence): sequence.isSound
        }
    }
}
