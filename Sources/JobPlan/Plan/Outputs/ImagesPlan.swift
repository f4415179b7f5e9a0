internal import ExactStrings
package import Diagnostics
package import Media

/// The still images of an output.
package struct ImagesPlan: Codable, Hashable, Sendable {
    package struct Still: Codable, Hashable, Sendable {
        /// Requested presentation time, on the output's time line.
        package var time: MediaTime
        /// Presentation time on the source's time line.
        package var sourceTime: MediaTime
        /// Absolute path of the image file; nil if one file contains all images.
        @Annotation package var destination: String?
    }

    /// A sheet: many images in one file.
    package struct Sheet: Codable, Hashable, Sendable {
        /// Number of images in a row.
        package var columns: Int
        /// Number of images in a column.
        package var rows: Int
        /// Absolute path of the WebVTT file that maps times to parts of the sheet; nil without such a file.
        @Annotation package var index: String?
    }

    /// All images, ordered by time.
    package var stills: [Still]
    /// Tolerance between the requested time of an image and its actual one.
    package var tolerance: ImageTolerance
    /// Duration of the media from which the images are taken.
    package var duration: MediaTime
    /// Layout of the sheet; nil if the output isn't a sheet.
    package var sheet: Sheet?
    /// Format of the animation; nil if the output isn't an animation.
    package var animation: AnimationFormat?
    /// Location of the request in the job file.
    package var location: SourceRange
}

extension ImagesPlan {
    /// Returns the times of an animation. The first image starts at zero. Each image lasts until the next one, and the
    /// last one until the end, but at least for the format's minimum frame duration.
    package func timing(as format: AnimationFormat) -> AnimationTiming {
        let starts = stills.enumerated().map { $0 == 0 ? .zero : $1.time }
        guard let last = starts.last else { return AnimationTiming(starts: [], end: duration) }
        let step = starts.count > 1 ? last - starts[starts.count - 2] : duration
        let least = format.lengths.lowerBound
        // The last frame may be requested at the end of the media.
        let end = duration <= last ? last + max(step, least) : max(duration, last + least)
        return AnimationTiming(starts: starts, end: end)
    }

    var areInOrder: Bool { zip(stills, stills.dropFirst()).allSatisfy { $0.time < $1.time } }
}

extension OutputPlan {
    /// Whether the values of the kind are consistent. Checked for plans from untrusted input.
    var isValid: Bool {
        guard hasOneKind, isCoverValid, (destination == nil) == isCheck,
            tracks.allSatisfy({ if case .read = $0.action { isCheck } else { !isCheck } })
        else { return false }
        switch kind {
        case .media: return true
        case .images(let images): return tracks.count == 1 && Self.isValid(images)
        case .waveform(let waveform): return tracks.count == 1 && waveform.isValid
        case .check: return !tracks.isEmpty
        case .package(let package): return tracks.isEmpty && package.isValid
        }
    }

    private var isCoverValid: Bool {
        guard let cover else { return true }
        return isMedia && covers.isEmpty && cover.isValid
            && ContainerType.named(container)?.supportsCoverImages == true
    }

    private static func isValid(_ images: ImagesPlan) -> Bool {
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

    /// Whether the output may have several files, whose names depend on the source.
    package var hasSeveralFiles: Bool {
        images.map { $0.sheet?.index != nil || $0.stills.first?.destination != nil } ?? false
    }

    /// Absolute paths of all files; the first one is the destination. A check has none.
    package var files: [String] {
        guard let destination else { return [] }
        guard let images else { return [destination] }
        if let index = images.sheet?.index { return [destination, index] }
        let named = images.stills.compactMap(\.destination)
        return named.isEmpty ? [destination] : named
    }
}

extension OutputTask {
    /// Tasks of the output's files, each of which is published and recorded separately. The first task has the output's
    /// name. The names of the others end with `#` and a number, unlike the name of any output.
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
