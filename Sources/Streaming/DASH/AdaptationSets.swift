internal import LibAV
internal import Media

/// The adaptation sets of a package: renditions between which players may switch at any segment.
struct AdaptationSets {
    /// Renditions of each set, in the order of the package's renditions.
    let sets: [[StreamingRendition]]

    init(_ renditions: [StreamingRendition]) {
        var sets: [[StreamingRendition]] = []
        for rendition in renditions {
            if let index = sets.firstIndex(where: { set in
                set.first.map { Self.areSwitchable($0, rendition) } ?? false
            }) {
                sets[index].append(rendition)
            } else {
                sets.append([rendition])
            }
        }
        let order: [(StreamingRendition) -> Bool] = [
            { $0.video != nil }, { $0.audio != nil }, { $0.subtitles != nil },
            { $0.thumbnails != nil },
        ]
        self.sets = order.flatMap { isKind in sets.filter { $0.first.map(isKind) ?? false } }
    }

    private static func areSwitchable(_ a: StreamingRendition, _ b: StreamingRendition) -> Bool {
        guard a.language == b.language, a.roles == b.roles else { return false }
        switch (a.kind, b.kind) {
        case (.video(let first), .video(let second)):
            return a.codec?.family == b.codec?.family && first.accessPoint == second.accessPoint
                && CodePoints(first.color).isEquivalent(to: CodePoints(second.color))
                && haveEqualAspect(first, second) && areAligned(a, b)
        case (.audio(let first), .audio(let second)):
            return a.codec == b.codec && first == second && areAligned(a, b)
        default: return false
        }
    }

    /// Returns whether segments begin at the same times.
    private static func areAligned(_ a: StreamingRendition, _ b: StreamingRendition) -> Bool {
        a.segments.count == b.segments.count
            && zip(a.segments, b.segments).allSatisfy { $0.start == $1.start }
    }

    /// Returns whether two videos have the same aspect ratio within the rounding of their sizes to even numbers.
    private static func haveEqualAspect(_ a: StreamingRendition.Video, _ b: StreamingRendition.Video) -> Bool
    {
        let (a, b) = (a.displaySize, b.displaySize)
        let difference = abs(Int64(a.width) * Int64(b.height) - Int64(b.width) * Int64(a.height))
        let smaller = a.height < b.height ? (a, b) : (b, a)
        // Two pixels more or less in the smaller video.
        return difference <= 2 * Int64(max(smaller.1.width, smaller.1.height))
    }
}
