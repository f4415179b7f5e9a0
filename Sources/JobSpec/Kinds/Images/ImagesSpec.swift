package import Diagnostics
package import Media

/// The part of a coded frame that a still image shows, and whether it has square pixels (AVFoundation's
/// `AVAssetImageGenerator.ApertureMode`).
package enum ApertureMode: String, CaseIterable, Sendable {
    /// The source's clean aperture, with square pixels.
    case clean
    /// The whole frame, with square pixels.
    case production
    /// The whole frame, with the pixel aspect ratio of the source.
    case encoded
}

/// The configuration of still images of a source's first video track.
package struct ImagesSpec: Sendable {
    /// Maximum number of still images of an output.
    package static let maxImages = 9999

    /// The selection of frames.
    package enum Selection: Sendable {
        /// Frames at given times.
        case at([Located<TimeExpression>])
        /// First frame, and one frame at each multiple of an interval.
        case every(Located<MediaTime>)
        /// Number of evenly spaced frames.
        case count(Located<Int>)
        /// All keyframes.
        case keyFrames(SourceRange)
        /// First frame of each scene; the value is the difference that starts a scene, in thousandths.
        case scenes(Located<Int>)
    }

    /// A sheet: many images in one file.
    package struct Sheet: Sendable {
        package var columns: Int
        /// Number of rows; nil for as many as the images require.
        package var rows: Located<Int>?
        /// Location of the request for a WebVTT index of the sheet; nil without one.
        package var index: SourceRange?
        /// The sheet's location in the job file.
        package var range: SourceRange
    }

    package var selection: Selection
    /// Maximum distance of a still image from the requested time.
    package var tolerance: ImageTolerance
    /// Size of an image in pixels; if both sides are set, the image fits into it.
    package var size: Located<Dimensions>?
    /// The part of the frame that is shown.
    package var aperture: ApertureMode
    /// Whether the display matrix is applied.
    package var isUpright: Bool
    /// Format of an animation that contains all images; nil for separate images or a sheet.
    package var animation: Located<AnimationFormat>?
    /// Quality from 1 to 100.
    package var quality: Located<Int>?
    /// Format of the files; nil if the job file doesn't set one.
    package var format: Located<String>?
    /// Layout of a sheet; nil for separate images or an animation.
    package var sheet: Sheet?
    /// The value's location in the job file.
    package var range: SourceRange
}

extension ImagesSpec {
    /// Placeholders in a destination for an image's number and time.
    package enum Placeholder {
        /// The image's number from 1, with four digits.
        package static let number = "${image.number}"
        /// The image's time, such as `00-01-30.500`.
        package static let time = "${image.time}"
    }

    /// The selection's location in the job file.
    package var location: SourceRange {
        switch selection {
        case .at(let times): times.first?.range ?? range
        case .every(let time): time.range
        case .count(let count): count.range
        case .keyFrames(let location): location
        case .scenes(let difference): difference.range
        }
    }
}
