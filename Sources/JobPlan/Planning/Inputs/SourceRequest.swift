internal import ExactStrings
internal import JobSpec
internal import Media

/// A file or URL to be probed, with the precision of its times.
struct SourceRequest {
    var path: String
    var timing: AssetTiming

    /// The key of the result.
    var key: ExactString { "\(timing.rawValue):\(path)".exact }
}
