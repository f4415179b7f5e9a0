internal import Diagnostics
internal import FoundationEssentials

extension ShardFolder {
    var progressFolder: String { path + "/progress" }

    /// Writes the progress of a part. Without effect if the folder can't be written.
    package func write(_ progress: PartProgress, ofShard index: Int) {
        try? JSONFormat.data(of: progress, isLine: true)
            .write(to: URL(filePath: "\(progressFolder)/\(index).json"), options: .atomic)
    }

    /// Returns the parts that have written their progress.
    package func partsWithProgress() -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: progressFolder)) ?? []
        return names.compactMap { $0.hasSuffix(".json") ? Int($0.dropLast(5)) : nil }.sorted()
    }

    /// Reads the progress of a part; nil if it isn't valid.
    package func progress(ofShard index: Int) -> PartProgress? {
        guard let data = contents(of: "\(progressFolder)/\(index).json", limit: 16 << 20),
            let found = try? JSONFormat.value(PartProgress.self, of: data), found.isValid
        else { return nil }
        return found
    }
}
