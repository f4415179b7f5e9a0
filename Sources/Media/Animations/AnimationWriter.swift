package import LibAV

/// Writes stills that are shown one after the other into one file. Confined to one queue.
package protocol AnimationWriter: AnyObject {
    /// Looks at a still that is added later.
    func look(at frame: consuming Frame) throws
    /// Adds the next still.
    func add(_ frame: consuming Frame) throws
    /// Ends the file.
    func finish() throws
}
