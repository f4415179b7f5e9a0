/// The time at which a writer's file gets its name.
public enum PublicationTime: Hashable, Sendable {
    /// The end of writing, once the file is complete and on disk. A writer that fails, is cancelled or is killed leaves no file.
    case whenFinished
    /// The start of writing, for captures that can't be repeated. The file can be played up to its last complete
    /// fragment at any time, also after the process was killed.
    ///
    /// An existing file is never replaced: a partial recording could otherwise take the place of a complete file.
    /// Supported by mp4, mov and m4a, which are written in fragments; by mkv and webm, whose clusters end with a
    /// fragment; and by ts (``ContainerType/isPlayableUnfinished``).
    ///
    /// - `finishWriting` completes the file.
    /// - `cancelWriting` removes it, as in AVFoundation.
    /// - After an error, the file keeps its name and is truncated to its last complete fragment. A file without a
    ///   complete fragment is removed.
    case immediately
}
