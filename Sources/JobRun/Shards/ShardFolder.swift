internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
package import JobPlan
internal import JobSpec
internal import LibAV
package import FileSystem

/// A folder that several machines share: a plan in parts, which never change, and what became of each.
///
/// Nothing in it is ever written twice: parts are made once, results get names of their own, and each is whole or absent.
/// So a part that is carried out twice, even at the same time, does no harm, and there is no lock and no database.
package struct ShardFolder: Sendable {
    /// Its path.
    package let path: String
    /// Beneath what its files and the outputs lie that its results name.
    private let root: PathRoot

    /// A folder by its path.
    package init(path: String, beneath root: PathRoot) {
        self.path = path
        self.root = root
    }

    /// What of it can't be used, and why.
    package struct Problem: Error, Sendable, CustomStringConvertible {
        /// One line for people.
        package let description: String
        init(_ description: String) { self.description = description }
    }

    private func name(ofShard index: Int) -> String { "\(path)/shard-\(index).json" }
    private var results: String { path + "/results" }

    /// Writes the parts. The folder is made; one that has anything in it is left alone.
    package func write(_ plan: PlanFile, shards: [[Int]]) throws(Problem) {
        if let found = try? FileManager.default.contentsOfDirectory(atPath: path), !found.isEmpty {
            throw Problem("\(path) is not empty, and parts of a plan are never changed")
        }
        do {
            try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
            for (index, jobs) in shards.enumerated() {
                var part = plan
                part.shard = PlanFile.Shard(index: index, count: shards.count)
                part.plan = BatchPlan(jobs: jobs.map { plan.plan.jobs[$0] }, refusals: [])
                try part.data().write(to: URL(filePath: name(ofShard: index)), options: .withoutOverwriting)
            }
        } catch {
            throw Problem("\(path) can't be written: \(error)")
        }
    }

    /// One part.
    package func shard(_ index: Int) throws(Problem) -> PlanFile {
        guard let data = contents(of: name(ofShard: index)) else {
            let what = index == 0 ? "is no plan in parts" : "has no part \(index)"
            throw Problem("\(path) \(what): \(name(ofShard: index)) can't be read")
        }
        guard let file = try? PlanFile.read(data), file.shard?.index == index else {
            throw Problem("\(name(ofShard: index)) is no part \(index) of a plan")
        }
        return file
    }

    /// A file's bytes: of a regular file alone, beneath the root where there is one, and of no more than a plan can be.
    private func contents(of path: String) -> Data? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        let file = String(cString: real)
        guard root.holds(file) else { return nil }
        return (try? SystemSpecFiles().read(file, limit: 1 << 30)).map { Data($0) }
    }

    /// All parts.
    package func shards() throws(Problem) -> [PlanFile] {
        let first = try shard(0)
        var all = [first]
        for index in 1..<max(1, first.shard?.count ?? 1) { all.append(try shard(index)) }
        return all
    }

    /// What a page shows of an output, beside what became of its part.
    private struct Shown: Codable {
        var file: String
        var id: String
        /// Which output of the job it was.
        var output: String
        var preview: JobPreview
    }

    private static let shown = ".previews"

    /// Writes what became of a part, under a name of its own.
    package func write(
        _ report: RunReport, previews: [JobKey: JobPreview], ofShard index: Int
    ) throws(Problem) {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, 255)
        let machine = host.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        let word = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let name = "\(results)/\(index)-\(machine)-\(getpid())-\(word).json"
        let shown = report.jobs.compactMap { job in
            job.output.flatMap { output in
                previews[JobKey(file: job.file, id: job.id)].map {
                    Shown(file: job.file, id: job.id, output: output, preview: $0)
                }
            }
        }
        do {
            try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
            if !shown.isEmpty {
                try JSONEncoder().encode(shown).write(to: URL(filePath: name + Self.shown), options: .atomic)
            }
            try report.json().write(to: URL(filePath: name), options: .atomic)
        } catch {
            throw Problem("the results can't be written to \(results): \(error)")
        }
    }

    /// Everything that was ever written about parts. A result that can't be read is nobody's.
    package func reports() -> [RunReport] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
        return names.sorted().filter { $0.hasSuffix(".json") }.compactMap { name in
            guard let data = contents(of: results + "/" + name) else { return nil }
            let report = try? JSONForm.value(RunReport.self, of: data)
            guard let report, (0...1e12).contains(report.begun), (0...1e9).contains(report.seconds) else {
                return nil
            }
            return report.jobs.allSatisfy(\.isSound) ? report : nil
        }
    }

    /// What the parts' own pages show of outputs that still stand, of so many at most.
    package func previews(of report: RunReport, most: Int) -> [JobKey: JobPreview] {
        let outputs = Dictionary(
            report.jobs.filter(\.isDone).compactMap { job in
                job.output.map { (JobKey(file: job.file, id: job.id), $0) }
            }, uniquingKeysWith: { first, _ in first })
        var found: [JobKey: JobPreview] = [:]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
        for name in names.sorted() where name.hasSuffix(Self.shown) && found.count < most {
            guard let data = contents(of: results + "/" + name),
                let all = try? JSONDecoder().decode([Shown].self, from: data)
            else { continue }
            for one in all {
                let key = JobKey(file: one.file, id: one.id)
                guard found.count < most, outputs[key] == one.output else { continue }
                found[key] = one.preview.bounded
            }
        }
        return found
    }

    /// What became of the plan as a whole: of each job the best that is known, and only what still stands. A job of which
    /// nothing is known, or whose output is gone or changed, is `not-run`.
    package func collect() throws(Problem) -> RunReport {
        let shards = try shards()
        var found: [[String]: RunReport.Job] = [:]
        let reports = reports()
        // Of several attempts one whose output still stands, and of those the one that made it, which knows most.
        func worth(_ job: RunReport.Job) -> Int {
            guard job.isDone else { return 0 }
            guard job.stands(beneath: root) else { return 1 }
            return job.outcome == "succeeded" ? 3 : 2
        }
        for report in reports {
            for job in report.jobs {
                let key = [job.file, job.id]
                if let known = found[key], worth(known) >= max(1, worth(job)) { continue }
                found[key] = job
            }
        }
        var jobs: [RunReport.Job] = []
        for shard in shards {
            for plan in shard.plan.jobs {
                let entries = plan.tasks.map { task -> RunReport.Job? in
                    guard let job = found[[plan.file, task.name]], job.isDone, !job.stands(beneath: root)
                    else {
                        return found[[plan.file, task.name]]
                    }
                    return RunReport.Job(missing: task, reason: "its output is gone or changed")
                }
                // A job with several outputs that failed is said once.
                if entries.contains(where: { $0 == nil }), let whole = found[[plan.file, plan.id]] {
                    jobs += entries.compactMap(\.self) + [whole]
                    continue
                }
                jobs += zip(plan.tasks, entries).map { task, job in
                    job ?? RunReport.Job(missing: task, reason: "nothing is known of it")
                }
            }
        }
        let begun = reports.map(\.begun).min() ?? 0
        let ended = reports.map { $0.begun + $0.seconds }.max() ?? begun
        let isWhole = jobs.allSatisfy(\.isDone)
        return RunReport(
            jobs: jobs, files: shards.first?.files ?? [], begun: begun, seconds: ended - begun,
            status: isWhole ? "succeeded" : "failed")
    }
}
