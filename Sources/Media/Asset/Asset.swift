internal import ExactStrings
public import FoundationEssentials
package import LibAV
internal import Locking

/// Method by which an asset's times are determined.
public enum AssetTiming: String, Codable, Sendable, CaseIterable {
    /// Times from header and index, which may be estimates. Packets are read only if the container declares no reliable
    /// times.
    case fast
    /// Exact times, measured by reading all packets.
    case precise
}

/// A source of media (AVFoundation's `AVURLAsset`): a file, test pattern, image sequence or composition. The source
/// is opened when a property is first loaded; all properties then load together, off the caller's thread.
public final class Asset: Sendable {
    /// Kind and location of the media.
    public enum Source: Hashable, Sendable {
        /// A file by its path, or an http or https URL.
        case file(String)
        /// A generated test pattern.
        case pattern(TestPattern)
        /// Numbered image files, or one image with a duration.
        case images(ImageSequence)
        /// Several sources on one time line.
        case composition(Composition)

        /// Returns whether the sources are the same. Paths are compared by their bytes, as file systems do.
        public static func == (one: Source, other: Source) -> Bool {
            switch (one, other) {
            case (.file(let one), .file(let other)): one.exact == other.exact
            case (.pattern(let one), .pattern(let other)): one == other
            case (.images(let one), .images(let other)): one == other
            case (.composition(let one), .composition(let other)): one == other
            case (.file, _), (.pattern, _), (.images, _), (.composition, _): false
            }
        }

        /// Hashes the source, with the bytes of its path.
        public func hash(into hasher: inout Hasher) {
            switch self {
            case .file(let path): hasher.combine(path.exact)
            case .pattern(let pattern): hasher.combine(pattern)
            case .images(let sequence): hasher.combine(sequence)
            case .composition(let composition): hasher.combine(composition)
            }
        }
    }

    private enum State: Sendable {
        case unknown
        case loading
        case loaded(AssetContents)
        case failed(any Error)
        case cancelled
    }

    /// Kind and location of the media, as passed to the initializer.
    public let source: Source
    /// Method by which times are determined.
    public let timing: AssetTiming
    /// Access to sources, and caches.
    public let environment: MediaEnvironment
    private let discovery: StreamDiscovery
    private let state = Guarded(State.unknown)
    private let loading = Guarded(Loading())
    private let queue = SerialQueue(label: "tandem.asset")

    /// Creates an asset without opening its source.
    public convenience init(
        _ source: Source, timing: AssetTiming = .fast, environment: MediaEnvironment
    ) {
        self.init(source, timing: timing, environment: environment, discovery: .decoding)
    }

    /// Creates an asset without opening its source. `discovery`: effort for detecting codec parameters; the cache is
    /// used only with `.decoding`.
    package init(
        _ source: Source, timing: AssetTiming = .fast, environment: MediaEnvironment,
        discovery: StreamDiscovery
    ) {
        self.discovery = discovery
        self.source = source
        self.timing = timing
        self.environment = environment
    }

    /// Creates an asset of a URL. An http or https URL loads only if the environment allows it; other non-file URLs
    /// fail to load.
    public convenience init(
        url: URL, timing: AssetTiming = .fast, environment: MediaEnvironment = MediaEnvironment()
    ) {
        self.init(
            .file(url.isFileURL ? url.path : url.absoluteString), timing: timing, environment: environment)
    }

    /// Returns the loading status of a property; all properties load together.
    public func status<Value>(of property: AssetProperty<Value>) -> PropertyStatus {
        state.withLock { state in
            switch state {
            case .unknown: .unknown
            case .loading: .loading
            case .loaded: .loaded
            case .failed(let error): .failed(error)
            case .cancelled: .cancelled
            }
        }
    }

    /// Loads a property without blocking the caller (AVFoundation's `load(_:)`). If the task is cancelled, reading
    /// continues only while another caller waits for the asset; a later call starts it again.
    /// - Throws: `InputError` if the file can't be opened; `CancellationError` after `cancelLoading()` and if the task
    ///   is cancelled.
    public func load<Value>(_ property: AssetProperty<Value>) async throws -> Value {
        let request = LoadRequest()
        loading.withLock { $0.waiting += 1 }
        let contents = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard request.begin(continuation) else { return }
                queue.async { @Sendable in
                    guard request.isPending else { return }
                    let result = Result { try self.loadNow() }
                    if request.finish(result) { self.loading.withLock { $0.waiting -= 1 } }
                }
            }
        } onCancel: {
            if request.finish(.failure(CancellationError())) { abandon() }
        }
        return property.read(contents)
    }

    /// Unregisters a waiting caller, and interrupts the read in progress if it was the last one.
    private func abandon() {
        loading.withLock { loading in
            loading.waiting -= 1
            if loading.waiting == 0 { loading.interrupt?.raise() }
        }
    }

    /// Loads all properties, and blocks the calling thread until they are available. Throws the errors of `load(_:)`.
    public func loadSynchronously() throws -> AssetContents {
        loading.withLock { $0.waiting += 1 }
        defer { loading.withLock { $0.waiting -= 1 } }
        return try queue.sync { try loadNow() }
    }

    /// Cancels loading and interrupts a read in progress. Loaded properties stay available.
    public func cancelLoading() {
        state.withLock { state in
            switch state {
            case .unknown, .loading: state = .cancelled
            case .loaded, .failed, .cancelled: break
            }
        }
        loading.withLock { $0.interrupt?.raise() }
    }

    private func read(_ interrupt: InterruptFlag) throws -> AssetContents {
        try AssetLoader(environment: environment.sources, interrupt: interrupt, discovery: discovery).load(
            source, timing: timing)
    }

    /// Returns the loaded contents, or reads and stores them; runs on `queue`.
    private func loadNow() throws -> AssetContents {
        let known: AssetContents? = try state.withLock { state in
            switch state {
            case .loaded(let contents): return contents
            case .failed(let error): throw error
            case .cancelled: throw CancellationError()
            case .unknown, .loading:
                state = .loading
                return nil
            }
        }
        if let known { return known }
        let interrupt = InterruptFlag(joining: environment.sources.interrupt.map { [$0] } ?? [])
        // All callers may have been cancelled before the read begins.
        loading.withLock { loading in
            loading.interrupt = interrupt
            if loading.waiting == 0 { interrupt.raise() }
        }
        if case .cancelled = status(of: .duration) { interrupt.raise() }
        defer { loading.withLock { $0.interrupt = nil } }
        let result = Result {
            if interrupt.isRaised { throw CancellationError() }
            guard case .file(let path) = source, discovery == .decoding, let memory = environment.cache
            else { return try read(interrupt) }
            return try memory.contents(ofFile: path, timing: timing, environment: environment.sources) {
                let contents = try read(interrupt)
                // Contents read before an interruption may be incomplete, so they aren't cached.
                if interrupt.isRaised { throw CancellationError() }
                return contents
            }
        }
        return try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
            if interrupt.isRaised {
                state = .unknown
                throw CancellationError()
            }
            switch result {
            case .success(let contents):
                state = .loaded(contents)
                return contents
            case .failure(let error):
                state = .failed(error)
                throw error
            }
        }
    }
}

/// Number of callers that wait for an asset to be loaded, and interrupt flag of the read in progress.
private struct Loading: Sendable {
    var waiting = 0
    var interrupt: InterruptFlag?
}

/// A call of `load`, which ends once: with the result, or when its task is cancelled.
private final class LoadRequest: Sendable {
    private struct State: Sendable {
        var continuation: CheckedContinuation<AssetContents, any Error>?
        var result: Result<AssetContents, any Error>?
    }
    private let state = Guarded(State())

    var isPending: Bool { state.withLock { $0.result == nil } }

    /// Stores the continuation; if the request has ended already, resumes it and returns false.
    func begin(_ continuation: CheckedContinuation<AssetContents, any Error>) -> Bool {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
        return result == nil
    }

    /// Ends the request; returns false if it has ended already.
    func finish(_ result: Result<AssetContents, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            guard state.result == nil else {
                return (false, nil as CheckedContinuation<AssetContents, any Error>?)
            }
            state.result = result
            defer { state.continuation = nil }
            return (true, state.continuation)
        }
        continuation?.resume(with: result)
        return isFirst
    }
}
