internal import ExactStrings
package import Diagnostics
package import Media

/// The stills that an output is made of.
package struct ImagesPlan: Codable, Hashable, Sendable {
    /// One of them.
    package struct Still: Codable, Hashable, Sendable {
        /// When it is on screen, on the output's time line: what is asked for.
        package var time: MediaTime
        /// The same moment on the source's.
        package var sourceTime: MediaTime
        /// The absolute path of its file; nil where all are in one.
        package var destination: String?
    }

    /// Many stills in one file.
    package struct Sheet: Codable, Hashable, Sendable {
        /// Stills beside each other.
        package var columns: Int
        /// Stills above each other.
        package var rows: Int
        /// The absolute path of the WebVTT file that tells which is which.
        package var index: String?
    }

    /// All of them, in the order of their times.
    package var stills: [Still]
    /// How far from its time a still may lie.
    package var tolerance: ImageTolerance
    /// How long what they are taken from is.
    package var duration: MediaTime
    /// They are one file.
    package var sheet: Sheet?
    /// They are one file, shown one after the other: its format.
    package var animation: AnimationFormat?
    /// Where they were asked for.
    package var location: SourceRange
}

extension ImagesPlan {
    /// When stills are shown as an animation: the first one at once, each until the next, the last to the end, no shorter than a player
    /// shows.
    package func timing(as format: AnimationFormat) -> AnimationTiming {
        let starts = stills.enumerated().map { $0 == 0 ? .zero : $1.time }
        guard let last = starts.last else { return AnimationTiming(starts: [], end: duration) }
        let step = starts.count > 1 ? last - starts[starts.count - 2] : duration
        let least = format.lengths.lowerBound
        // The last frame is asked for at the very end.
        let end = duration <= last ? last + max(step, least) : max(duration, last + least)
        return AnimationTiming(starts: starts, end: end)
    }

    var areInOrder: Bool { zip(stills, stills.dropFirst()).allSatisfy { $0.time < $1.time } }
}

extension OutputPlan {
    /// Whether the values of the kind fit each other: asked of a plan that comes from outside.
    var isSound: Bool {
        guard hasOneKind else { return false }
        switch kind {
        case .media: return true
        case .images(let images): return tracks.count == 1 && Self.isSound(images)
        case .waveform(let waveform): return tracks.count == 1 && waveform.isSound
        }
    }

    private static func isSound(_ images: ImagesPlan) -> Bool {
        guard (1...9999).contains(images.stills.count) else { return false }
        let named = images.stills.compactMap(\.destination)
        if images.animation != nil { return images.sheet == nil && named.isEmpty && images.areInOrder }
        if let sheet = images.sheet {
            return (1...9999).contains(sheet.columns) && (1...9999).contains(sheet.rows)
                && sheet.columns * sheet.rows >= images.stills.count && named.isEmpty
        }
        return named.isEmpty
            ? images.stills.count == 1
            : named.count == images.stills.count && Set(named.map(\.exact)).count == named.count
    }

    /// It may have several files, whose names its source tells.
    package var hasSeveralFiles: Bool {
        images.map { $0.sheet?.index != nil || $0.stills.first?.destination != nil } ?? false
    }

    /// The absolute paths of all its files, the first one being its destination.
    package var files: [String] {
        guard let images else { return [destination] }
        if let index = images.sheet?.index { return [destination, index] }
        let named = images.stills.compactMap(\.destination)
        return named.isEmpty ? [destination] : named
    }
}

extension OutputTask {
    /// The task of each of its files: what is published and remembered by itself. The first one has the output's name, the others are
    /// told apart by a number, which no name ends in.
    package var files: [OutputTask] {
        output.files.enumerated().map { index, path in
            guard index > 0 else { return self }
            var task = self
            task.output.destination = path
            task.part = index
            return task
        }
    }
}
