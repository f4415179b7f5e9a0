internal import ExactStrings
internal import FileSystem
internal import JobPlan
internal import Publishing

/// The files that a run creates or finds up to date, by folder.
struct RunDestinations {
    private let names: [ExactString: Set<ExactString>]
    /// Folders already searched for temporary files of killed runs.
    private var cleanedFolders: Set<ExactString> = []

    init(_ plan: BatchPlan) {
        var names: [ExactString: Set<ExactString>] = [:]
        let upToDate = plan.upToDateJobs.flatMap(\.outputs).flatMap(\.files)
        for path in plan.jobs.flatMap(\.outputs).flatMap(\.files) + upToDate {
            let (folder, name) = Self.split(path)
            names[folder.exact, default: []].insert(name.exact)
        }
        self.names = names
    }

    /// Returns the folder and the name of an absolute path.
    private static func split(_ path: String) -> (folder: String, name: String) {
        (path.parentFolder, path.pathParts.last ?? "")
    }

    /// Returns a file of `plan` that is also the destination of another output of this run; nil if there is none.
    /// `prediction` is the plan from before the source existed; its files were checked at planning.
    func conflict(of plan: JobPlan, predicted prediction: JobPlan) -> String? {
        let known = Set(prediction.outputs.flatMap(\.files).map(\.exact))
        return plan.outputs.flatMap(\.files).first { path in
            let (folder, name) = Self.split(path)
            return !known.contains(path.exact) && names[folder.exact]?.contains(name.exact) == true
        }
    }

    /// Removes temporary files of killed runs from a destination's folder, once per folder. `destination` is nil for a
    /// check, which writes no files.
    mutating func removeAbandonedFiles(inFolderOf destination: String?) {
        guard let destination else { return }
        let folder = destination.parentFolder
        if cleanedFolders.insert(folder.exact).inserted {
            _ = TemporaryFile.removeAbandonedParts(in: folder, of: names[folder.exact] ?? [])
        }
    }

    /// Returns the sets of files whose publishing a killed run left unfinished, in folders beneath `root`.
    func interruptedSets(beneath root: PathRoot) -> [InterruptedSet] {
        names.flatMap { folder, names in InterruptedSet.find(in: folder.text, of: names, beneath: root) }
    }
}
