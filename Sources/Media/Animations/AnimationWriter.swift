package import LibAV

/// Writes a sequence of still images to one animation file. Confined to one queue.
package protocol AnimationWriter: AnyObject {
    /// Analyzes a still image that is added later.
    func analyze(_ frame: consuming Frame) throws
    /// Appends the next still image.
    func add(_ frame: consuming Frame) throws
    /// Finishes the file.
    func finish() throws
}
