internal import FileSystem
package import JobRun

/// Settings of a cache of outputs.
package struct CacheSettings: Codable, Hashable, Sendable {
    /// Path of the folder.
    package var folder: String
    package var mode = ContentCache.Mode.readWrite
    /// Maximum size of the cache in bytes.
    package var limit = Self.defaultLimit

    /// Default of `limit`: 10 GB.
    package static let defaultLimit: Int64 = 10_000_000_000

    package init(folder: String) { self.folder = folder }

    /// The settings with an absolute path, for other processes.
    package var absolute: CacheSettings {
        var settings = self
        settings.folder = RealPath.absolute(folder)
        return settings
    }

    /// Whether the path is absolute and the limit in range. Settings also come from the shared folder of a batch.
    var isValid: Bool { folder.hasPrefix("/") && (1...1 << 60).contains(limit) }

    /// The settings as arguments of `tandem run`.
    var arguments: [String] {
        ["--cache", folder, "--cache-mode", mode.rawValue, "--cache-limit", "\(max(1, limit >> 10))KiB"]
    }

    /// Opens the cache.
    /// - Throws: An environment error if the folder can't be created or opened, and a usage error if untrusted authors may have
    ///   written it.
    package func open(_ access: SourceAccess) throws(EngineError) -> ContentCache {
        if access.isUntrusted, access.root.contains(RealPath.of(folder) ?? RealPath.absolute(folder)) {
            throw EngineError(
                .usage,
                "--untrusted requires a cache outside of the root, because the files there are untrusted: \(folder)"
            )
        }
        do throws(SystemError) {
            return try ContentCache(path: folder, mode: mode, limit: limit)
        } catch {
            throw EngineError(.environment, "\(error)")
        }
    }

    /// Returns messages for the user about what went wrong with the cache in a run.
    func messages(_ tally: ContentCache.Tally) -> [String] {
        var messages: [String] = []
        if tally.refused > 0 {
            messages.append(
                "warning: \(tally.refused == 1 ? "1 entry" : "\(tally.refused) entries") of the cache \(folder) couldn't be used: damaged, or not what the plan describes"
            )
        }
        if let problem = tally.problem {
            messages.append("warning: the cache \(folder) couldn't be used for all outputs: \(problem)")
        }
        return messages
    }
}
