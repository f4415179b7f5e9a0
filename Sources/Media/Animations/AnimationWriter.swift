package import LibAV

/// Writes a sequence of still images to one animation file. Confined to one queue.
package protocol AnimationWriter: AnyObject {
    /// Analyzes a still image in a pass before the first `add(_:)`; required for all images if the format's
    /// `needsAnalysis` is true.
    func analyze(_ frame: consuming Frame) throws
    /// Encodes the next still image in presentation order.
    func add(_ frame: consuming Frame) throws
    /// Encodes the remaining images and completes the file. Called once, after all images.
    func finish() throws
}
