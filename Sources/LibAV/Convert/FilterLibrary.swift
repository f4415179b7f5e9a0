internal import ExactStrings
internal import CFFmpeg
internal import CLinux
internal import FileSystem
internal import Glibc

/// libavfilter, which is loaded when the first filter is created.
///
/// The library accounts for a third of FFmpeg's dependencies, and most processes don't filter: validation of job
/// files, stream copies, reruns without changes. Measured on Debian 12: a process starts in 37 ms without
/// libavfilter, in 68 ms with it.
///
/// Unchecked `Sendable`: the function table is constant after initialization.
final class FilterLibrary: @unchecked Sendable {
    /// Resolved functions of libavfilter.
    let c: tandem_filter_functions

    private init(_ functions: tandem_filter_functions) { c = functions }

    /// Loads the library at the first call. Throws if this machine has no compatible version.
    static func load() throws(AVError) -> FilterLibrary { try loaded.get() }

    private static let loaded: Result<FilterLibrary, AVError> = {
        guard let handle = dlopen(path ?? name, RTLD_LAZY | RTLD_LOCAL) else {
            return .failure(problem(dlerror().map { String(cString: $0) } ?? "\(name) can't be loaded"))
        }
        var functions = tandem_filter_functions()
        if let lacking = tandem_find_filter_functions(&functions, handle, { dlsym($0, $1!) }) {
            return .failure(problem("\(name) has no \(String(cString: lacking))"))
        }
        return .success(FilterLibrary(functions))
    }()

    private static func problem(_ text: String) -> AVError {
        AVError(code: tandem_einval, operation: "dlopen", detail: text)
    }

    private static let name = "libavfilter.so.\(tandem_filter_major())"

    /// The folder that contains FFmpeg's other libraries, with a trailing `/`.
    private static let folder: String? = {
        let function: @convention(c) () -> UInt32 = avutil_version
        guard let text = tandem_library_of(unsafeBitCast(function, to: UnsafeRawPointer.self)) else {
            return nil
        }
        defer { Glibc.free(text) }
        let path = String(cString: text)
        return path.lastSlash.map { String(path[...$0]) }
    }()

    /// Path of libavfilter in `folder`; nil if it isn't there, in which case the dynamic loader searches for it.
    private static let path: String? = {
        guard let folder, access(folder + name, R_OK) == 0 else { return nil }
        return folder + name
    }()

    /// Version of the library. It is read from the file name if possible, so that the library needn't be loaded; nil
    /// if libavfilter isn't available.
    static let version: String? = {
        if let path, let file = RealPath.of(path) {
            let parts = file[(file.lastSlash ?? file.startIndex)...].split(separator: ".")
            // /libavfilter.so.8.44.100
            if parts.count == 5, parts[1] == "so", parts[2...].allSatisfy({ UInt32($0) != nil }) {
                return parts[2...].joined(separator: ".")
            }
        }
        guard let number = try? load().c.avfilter_version() else { return nil }
        return "\(number >> 16).\(number >> 8 & 0xff).\(number & 0xff)"
    }()

    /// Whether FFmpeg is in a system folder. Otherwise the location of libavfilter's dependencies is unknown.
    static var isOfSystem: Bool { folder.map { ["/usr/", "/lib"].contains(where: $0.hasPrefix) } ?? true }

    /// Allocates an empty graph (`avfilter_graph_alloc`). The caller frees it.
    func allocate() throws(AVError) -> UnsafeMutablePointer<AVFilterGraph> {
        guard let graph = LogBridge.fresh(c.avfilter_graph_alloc()) else {
            throw .outOfMemory("avfilter_graph_alloc")
        }
        return graph
    }

    /// Creates a filter in a graph, which owns it, and sets its options (`avfilter_graph_alloc_filter`,
    /// `avfilter_init_dict`).
    func make(
        _ step: FilterStep, in graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws(AVError) -> UnsafeMutablePointer<AVFilterContext> {
        guard let filter = c.avfilter_get_by_name(step.name) else {
            throw AVError(
                code: tandem_einval, operation: "avfilter_get_by_name",
                detail: "the filter `\(step.name)` is not available in this build")
        }
        guard let context = LogBridge.fresh(c.avfilter_graph_alloc_filter(graph, filter, step.name)) else {
            throw .outOfMemory("avfilter_graph_alloc_filter")
        }
        // Some filters ignore unknown options, which then remain in the dictionary.
        var options = AVDictionaryOwner(step.options.map { ($0.key, $0.value) })
        let code = c.avfilter_init_dict(context, &options.raw)
        if code < 0 {
            let words =
                LogBridge.takeLastLine(of: context.pointee.priv) ?? LogBridge.takeLastLine(of: context)
            throw AVError(
                code: code, operation: "avfilter_init_dict",
                detail: words.map { "`\(step.name)`: \($0)" } ?? "`\(step.name)` rejects these options")
        }
        if let unknown = options.keys.first {
            throw AVError(
                code: tandem_option_not_found, operation: "avfilter_init_dict",
                detail: "`\(step.name)` has no option `\(unknown)`")
        }
        return context
    }

    func free(_ graph: UnsafeMutablePointer<AVFilterGraph>) {
        var copy: UnsafeMutablePointer<AVFilterGraph>? = graph
        c.avfilter_graph_free(&copy)
    }
}
