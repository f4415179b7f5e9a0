internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import FoundationEssentials
internal import Glibc
package import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
package import FileSystem

/// A folder that several machines share. It contains a plan split into parts (shards), and the results of each part.
///
/// Files are written once and never modified: results have unique names, and a file is either complete or absent. A
/// part may be executed twice, even concurrently, so no lock or database is needed.
package struct ShardFolder: Sendable {
    /// Path of the folder.
    package let path: String
    /// Root beneath which the folder's files and the outputs in its results must be.
    let root: PathRoot

    /// Creates a reference to a folder without accessing it.
    package init(path: String, beneath root: PathRoot) {
        self.path = path
        self.root = root
    }

    /// The reason why the folder or a file in it can't be used.
    package struct Problem: Error, Sendable, CustomStringConvertible {
        /// Reason for the user, in one line.
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// Maximum number of parts of a plan.
    package static let maxParts = 10_000

    private func name(ofShard index: Int) -> String { "\(path)/shard-\(index).json" }
    private var manifest: String { path + "/plan.json" }

    /// The manifest of the parts, written last: their number, and the digest of each file.
    private struct Manifest: Codable {
        var kind = "tandem-parts"
        var version = 1
        /// SHA-256 digests in hexadecimal, by part.
        var parts: [String]
        /// Number of parts that encode chunks, which are the first; nil if there are none.
        var chunkParts: Int?
        /// Number of parts after these that read the chunks.
        var joiningParts: Int?
        /// Number of jobs, with those that no part executes.
        var jobs: Int

        var isValid: Bool {
            kind == "tandem-parts" && version == 1 && jobs >= 0
                && (1...ShardFolder.maxParts).contains(parts.count)
                && stages.isValid(partCount: parts.count)
        }

        var stages: PartStages { PartStages(chunkParts: chunkParts ?? 0, joiningParts: joiningParts ?? 0) }
    }
    var results: String { path + "/results" }

    /// Absolute path of the folder with the files of chunks.
    package var chunks: String { StateFolder(path: path).absolute + "/chunks" }

    /// Writes the parts and the manifest. Creates the folder; throws if it isn't empty.
    package func write(_ plan: PlanFile, _ layout: ShardLayout) throws(Problem) {
        if let found = try? FileManager.default.contentsOfDirectory(atPath: path), !found.isEmpty {
            throw Problem("\(path) is not empty; parts of a plan are written to a new folder")
        }
        do {
            for folder in [results, progressFolder] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            let parts = PlanParts(of: plan, layout)
            let digests = try DispatchQueue.concurrentMap(throwing: parts.count) { index in
                let data = try parts.part(index).data(isLine: true)
                try data.write(to: URL(filePath: name(ofShard: index)), options: .withoutOverwriting)
                return SHA256Hasher.digest(of: Array(data))
            }
            var manifest = Manifest(
                parts: digests,
                jobs: plan.plan.jobs.count + plan.plan.skips.count + plan.plan.refusals.count)
            if !layout.chunks.isEmpty {
                (manifest.chunkParts, manifest.joiningParts) = (layout.chunks.count, layout.joining.count)
            }
            try JSONFormat.data(of: manifest)
                .write(to: URL(filePath: self.manifest), options: .withoutOverwriting)
        } catch {
            throw Problem("\(path) can't be written: \(error)")
        }
    }

    /// Removes the plan, whose parts were not started, so that the folder can be used for another one.
    package func removePlan() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where name == "plan.json" || name.hasPrefix("shard-") && name.hasSuffix(".json") {
            unlink(path + "/" + name)
        }
        // Only empty folders are removed.
        rmdir(results)
        rmdir(progressFolder)
        rmdir(path)
    }

    func digests() throws(Problem) -> [String] { try readManifest().parts }

    private func readManifest() throws(Problem) -> Manifest {
        guard let data = contents(of: manifest) else {
            throw Problem("\(path) is not a plan in parts: \(manifest) can't be read")
        }
        guard let list = try? JSONFormat.value(Manifest.self, of: data), list.isValid else {
            throw Problem("\(path) is not a plan in parts: \(manifest) doesn't list any")
        }
        return list
    }

    /// The parts of a plan.
    package struct Summary: Sendable {
        /// Number of parts.
        package let partCount: Int
        package let stages: PartStages
        /// Number of jobs, with those that no part executes.
        package let jobCount: Int
    }

    /// Returns the numbers of parts and jobs.
    package func summary() throws(Problem) -> Summary {
        let manifest = try readManifest()
        return Summary(
            partCount: manifest.parts.count, stages: manifest.stages, jobCount: manifest.jobs)
    }

    /// Reads one part. Throws if it was changed after planning.
    package func shard(_ index: Int) throws(Problem) -> PlanFile { try shard(index, of: try digests()) }

    /// Returns the digest of a part. Throws if the manifest, which may have changed since the part was read, doesn't
    /// list it.
    func digest(ofShard index: Int, of digests: [String]) throws(Problem) -> String {
        guard digests.indices.contains(index) else {
            throw Problem("\(path) has no part \(index): \(manifest) lists \(digests.count)")
        }
        return digests[index]
    }

    func shard(_ index: Int, of digests: [String]) throws(Problem) -> PlanFile {
        let digest = try digest(ofShard: index, of: digests)
        guard let data = contents(of: name(ofShard: index)) else {
            throw Problem("\(path) has no part \(index): \(name(ofShard: index)) can't be read")
        }
        guard SHA256Hasher.digest(of: Array(data)) == digest else {
            throw Problem(
                "\(name(ofShard: index)) was changed after it was planned")
        }
        guard let file = try? PlanFile.read(data),
            file.shard?.index == index, file.shard?.count == digests.count
        else {
            throw Problem("\(name(ofShard: index)) is not part \(index) of a plan")
        }
        return file
    }

    /// Reads a regular file beneath the root; nil if it is elsewhere or larger than the limit.
    func contents(of path: String, limit: Int = 1 << 30) -> Data? {
        guard let file = RealPath.of(path), root.contains(file) else { return nil }
        return (try? SystemSpecFiles().read(file, limit: limit)).map { Data($0) }
    }
}
