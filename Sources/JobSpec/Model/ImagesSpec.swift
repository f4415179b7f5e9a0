package import Diagnostics
package import Media

/// Which part of a coded frame a still shows, and whether its pixels become square (AVFoundation's
/// `AVAssetImageGenerator.ApertureMode`).
package enum ApertureMode: String, CaseIterable, Sendable {
    /// What the source says is to be seen, with square pixels.
    case clean
    /// The whole frame, with square pixels.
    case production
    /// The frame's own pixels.
    case encoded
}

/// Stills of a source's first video track, as a job file says them.
package struct ImagesSpec: Sendable {
    /// Which moments.
    package enum Selection: Sendable {
        /// These.
        case at([Located<TimeExpression>])
        /// The first one, and one after each such time.
        case every(Located<MediaTime>)
        /// So many, evenly spread.
        case count(Located<Int>)
        /// Every key frame.
        case keyFrames(SourceRange)
        /// The first frame of each scene; the difference that makes one, in thousandths.
        case scenes(Located<Int>)
    }

    /// Many stills in one file.
    package struct Sheet: Sendable {
        /// Stills beside each other.
        package var columns: Int
        /// Stills above each other; nil for as many as it takes.
        package var rows: Located<Int>?
        /// Where an index of it is asked for.
        package var index: SourceRange?
        /// Where it was written.
        package var range: SourceRange
    }

    /// Which moments.
    package var selection: Selection
    /// How far from them a still may lie.
    package var tolerance: ImageTolerance
    /// The size; of both sides, what fits into it.
    package var size: Located<Dimensions>?
    /// What part of the frame.
    package var aperture: ApertureMode
    /// Frames are shown upright.
    package var isUpright: Bool
    /// All stills one after the other in one file of this format.
    package var animation: Located<AnimationFormat>?
    /// From 1 to 100.
    package var quality: Located<Int>?
    /// The format of the files, where it is said.
    package var format: Located<String>?
    /// One file of many stills.
    package var sheet: Sheet?
    /// Where it was written.
    package var range: SourceRange
}

extension ImagesSpec {
    /// What stands in a destination for a still's number and for its time.
    package enum Placeholder {
        /// `${image.number}`: from 1, of four digits.
        package static let number = "${image.number}"
        /// `${image.time}`: `00-01-30.500`.
        package static let time = "${image.time}"
    }

    /// Where the moments were written.
    package var place: SourceRange {
        switch selection {
        case .at(let times): times.first?.range ?? range
        case .every(let time): time.range
        case .count(let count): count.range
        case .keyFrames(let place): place
        case .scenes(let difference): difference.range
        }
    }
}
