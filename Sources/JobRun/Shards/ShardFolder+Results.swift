internal import Diagnostics
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
package import JobPlan
internal import Locking

/// Results of parts.
extension ShardFolder {
    /// The preview of an output, stored in a file next to the results of its part.
    private struct StoredPreview: Codable {
        var file: String
        var id: String
        /// `TemporaryFile.fingerprint` of the published output.
        var output: String
        var preview: JobPreview
    }

    private static var previewsSuffix: String { ".previews" }

    /// Writes the results of a part to a file with a unique name.
    package func write(
        _ report: RunReport, previews: [OutputKey: JobPreview], ofShard index: Int
    ) throws(Problem) {
        let machine = HostName.current.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        let word = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let name = "\(results)/\(index)-\(machine)-\(getpid())-\(word).json"
        var report = report
        report.part = try digest(ofShard: index, of: try digests())
        let stored = report.jobs.compactMap { job in
            job.output.flatMap { output in
                previews[job.key].map {
                    StoredPreview(file: job.file, id: job.id, output: output, preview: $0)
                }
            }
        }
        do {
            try FileManager.default.createDirectory(atPath: results, withIntermediateDirectories: true)
            if !stored.isEmpty {
                try JSONEncoder().encode(stored).write(
                    to: URL(filePath: name + Self.previewsSuffix), options: .atomic)
            }
            try report.json(isLine: true).write(to: URL(filePath: name), options: .atomic)
        } catch {
            throw Problem("the results can't be written to \(results): \(error)")
        }
    }

    /// Reads all results. Unreadable or invalid ones are ignored.
    func reports() -> [RunReport] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
        let names = files.filter { $0.hasSuffix(".json") }.sorted()
        return DispatchQueue.concurrentMap(names.count) { report(in: results + "/" + names[$0]) }
            .compactMap(\.self)
    }

    private func report(in path: String) -> RunReport? {
        guard let data = contents(of: path), let report = try? JSONFormat.value(RunReport.self, of: data),
            (0...1e12).contains(report.begun), (0...1e9).contains(report.seconds)
        else { return nil }
        return report.jobs.allSatisfy(\.isValid) ? report : nil
    }

    /// Returns the stored previews of unchanged outputs, at most `limit`.
    package func previews(of report: RunReport, limit: Int) -> [OutputKey: JobPreview] {
        let outputs = Dictionary(
            report.jobs.filter(\.isDone).compactMap { job in
                job.output.map { (job.key, $0) }
            }, uniquingKeysWith: { first, _ in first })
        var found: [OutputKey: JobPreview] = [:]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: results)) ?? []
        for name in names.sorted() where name.hasSuffix(Self.previewsSuffix) && found.count < limit {
            guard let data = contents(of: results + "/" + name),
                let all = try? JSONDecoder().decode([StoredPreview].self, from: data)
            else { continue }
            for one in all {
                let key = OutputKey(file: one.file, id: one.id)
                guard found.count < limit, outputs[key] == one.output else { continue }
                found[key] = one.preview.sizeLimited
            }
        }
        return found
    }
}
