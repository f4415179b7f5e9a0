internal import ExactStrings
internal import JobSpec
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

extension ImagesPlan: KindPlan {
    package func isConsistent(with output: OutputPlan) -> Bool {
        let counts = 1...ImagesSpec.maxImages
        guard output.tracks.count == 1, counts.contains(stills.count) else { return false }
        let named = stills.compactMap(\.destination)
        if animation != nil { return sheet == nil && named.isEmpty && areInOrder }
        if let sheet {
            return counts.contains(sheet.columns) && counts.contains(sheet.rows)
                && sheet.columns * sheet.rows >= stills.count && named.isEmpty
        }
        return named.isEmpty
            ? stills.count == 1
            : named.count == stills.count && Set(named.map(\.exact)).count == named.count
    }

    package var hasSeveralFiles: Bool { sheet?.index != nil || stills.first?.destination != nil }

    package var hasVariableFileCount: Bool { true }
    package var hasTimeLine: Bool { false }

    /// The index of a sheet refers to the sheet's file.
    package var containsOwnName: Bool { sheet?.index != nil }

    /// Expectations of images can't be evaluated again.
    package func isCacheable(_ output: OutputPlan) -> Bool { output.expectations.isEmpty }

    package var isCopiedToPublish: Bool { files(at: "").count > 1 }

    package func files(at destination: String) -> [String] {
        if let index = sheet?.index { return [destination, index] }
        let named = stills.compactMap(\.destination)
        return named.isEmpty ? [destination] : named
    }

    package func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost {
        guard let frame = OutputCost.frame(of: output) else { return OutputCost() }
        let cells = Int64(sheet.map { $0.columns * $0.rows } ?? 1)
        // Images are found by seeking, and a few frames are decoded for each.
        return OutputCost(
            memory: frame.area * cells * 12 + frame.sourceArea * 24, work: Double(stills.count) * 0.05)
    }

    package var changeDescriptions: [PlanPart] {
        let times = stills.map { "\($0.time)" }
        return [PlanPart(.images, times.joined(separator: ", ") + " s")]
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
