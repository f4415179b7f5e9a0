public import FoundationEssentials

/// Receives the segments of a writer that writes no file (AVFoundation's `AVAssetWriterDelegate`).
public protocol AssetWriterDelegate: AnyObject, Sendable {
    /// Receives a segment: first the initialization segment, if the profile has one, then the media segments in order.
    /// Called on the writer's private queue, one segment at a time; the writer accepts no more than a few seconds of samples
    /// meanwhile.
    ///
    /// An error fails the writer. The method may cancel the writer.
    func assetWriter(
        _ writer: AssetWriter, didOutputSegmentData data: Data, segmentType: AssetSegmentType,
        segmentReport: AssetSegmentReport) throws
}
