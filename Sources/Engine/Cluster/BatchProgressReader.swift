internal import JobRun

/// The progress of all parts of a batch.
struct BatchProgress {
    /// The running jobs, by part.
    var running: [RunningJob] = []
    /// Number of jobs that have ended in parts that have begun.
    var finished = 0
    /// Number of jobs.
    var total = 0
}

/// A reader of the progress that parts write. The progress of parts that have ended is read once.
struct BatchProgressReader {
    private let folder: ShardFolder
    /// Number of parts that encode chunks, which are the first. Their jobs don't count.
    private let chunkParts: Int
    private let jobCount: Int
    /// Number of finished jobs of parts that have ended.
    private var ended: [Int: Int] = [:]

    init(of folder: ShardFolder, chunkParts: Int, jobCount: Int) {
        (self.folder, self.chunkParts, self.jobCount) = (folder, chunkParts, jobCount)
    }

    /// Reads the progress. `open`: the parts that haven't ended.
    mutating func read(open: Set<Int>) -> BatchProgress {
        var progress = BatchProgress()
        progress.total = jobCount
        for part in folder.partsWithProgress() {
            if open.contains(part) { ended[part] = nil }
            var finished = ended[part] ?? 0
            if ended[part] == nil, let found = folder.progress(ofShard: part) {
                finished = found.finished
                if open.contains(part) { progress.running += found.jobs } else { ended[part] = finished }
            }
            if part >= chunkParts { progress.finished += finished }
        }
        progress.finished = min(progress.finished, progress.total)
        return progress
    }
}
