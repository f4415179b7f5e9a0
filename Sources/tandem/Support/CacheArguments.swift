internal import ArgumentParser
internal import Engine
internal import JobRun
internal import JobSpec

/// Options for the cache of outputs.
struct CacheArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder of outputs of earlier runs, by content: an output that any run has stored there is taken from it instead of being created. Machines may share it.",
            valueName: "dir"), completion: .directory)
    var cache: String?

    @Option(help: "Access to the cache: read, or read-write (default; with --untrusted: read).")
    var cacheMode: ContentCache.Mode?

    @Option(
        help: ArgumentHelp(
            "Maximum size of the cache (default: 10GB). Outputs that were unused for the longest time are removed.",
            valueName: "size"))
    var cacheLimit: String?

    func validate() throws {
        if let problem = URLScheme.problem(of: "--cache", cache) { throw ValidationError(problem) }
        if cache?.isEmpty == true { throw ValidationError("--cache is the path of a folder") }
        if cache == nil, cacheMode != nil || cacheLimit != nil {
            throw ValidationError("--cache-mode and --cache-limit require --cache DIR")
        }
        if let cacheLimit, Language.byteSize.parse(cacheLimit) == nil {
            throw ValidationError("--cache-limit must be a size such as 10GB")
        }
    }

    /// Returns the options as the engine's configuration; nil without a cache. `isUntrusted`: whether the authors of the job
    /// files are untrusted. Their runs can't write what others take from the cache.
    func settings(isUntrusted: Bool) throws -> CacheSettings? {
        guard let cache else { return nil }
        if isUntrusted, cacheMode == .readWrite {
            throw ValidationError("--untrusted can't be combined with --cache-mode read-write")
        }
        var settings = CacheSettings(folder: cache)
        settings.mode = cacheMode ?? (isUntrusted ? .read : .readWrite)
        settings.limit = cacheLimit.flatMap(Language.byteSize.parse) ?? CacheSettings.defaultLimit
        return settings
    }
}

extension ContentCache.Mode: ExpressibleByArgument {}
