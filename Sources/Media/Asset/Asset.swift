internal import Dispatch
public import FoundationEssentials
public import LibAV
internal import Locking

/// Method by which an asset's times are determined.
public enum AssetTiming: String, Codable, Sendable, CaseIterable {
    /// From the header and the index: fast, but partly an estimate.
    case fast
    /// From every packet: exact.
    case precise
}

/// A source of media (AVFoundation's `AVURLAsset`): a file, test pattern, image sequence or composition. The source
/// is opened when a property is first loaded; all properties then load together, off the caller's thread.
public final class Asset: Sendable {
    /// Kind and location of the media.
    public enum Source: Hashable, Sendable {
        /// A file by its path.
        case file(String)
        /// A generated test pattern.
        case pattern(TestPattern)
        /// A sequence of images.
        case images(ImageSequence)
        /// Several sources on one time line.
        case composition(Composition)
    }

    private enum State: Sendable {
        case unknown
        case loading
        case loaded(AssetContents)
        case failed(any Error)
        case cancelled
    }

    /// The media's source.
    public let source: Source
    /// Method by which times are determined.
    public let timing: AssetTiming
    /// Access to sources, and caches.
    public let environment: MediaEnvironment
    private let discovery: StreamDiscovery
    private let state = Guarded(State.unknown)
    private let interrupt = InterruptFlag()
    private let queue = DispatchQueue(label: "tandem.asset")

    /// Creates an asset of a source. `discovery`: effort spent on detecting codec parameters.
    public init(
        _ source: Source, timing: AssetTiming = .fast, environment: MediaEnvironment,
        discovery: StreamDiscovery = .decoding
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

    /// Loads a property without blocking the caller (AVFoundation's `load(_:)`).
    /// - Throws: `InputError` if the file can't be opened, `CancellationError` after `cancelLoading()`.
    public func load<Value>(_ property: AssetProperty<Value>) async throws -> Value {
        property.read(try await queue.result { try self.loadNow() })
    }

    /// Loads all properties on the calling thread, for callers with a queue of their own.
    public func loadSynchronously() throws -> AssetContents { try queue.sync { try loadNow() } }

    /// Cancels loading; a read in progress ends soon. Loaded properties stay available.
    public func cancelLoading() {
        interrupt.raise()
        state.withLock { state in
            switch state {
            case .unknown, .loading: state = .cancelled
            case .loaded, .failed, .cancelled: break
            }
        }
    }

    private func read() throws -> AssetContents {
        try AssetLoader(environment: environment.sources, interrupt: interrupt, discovery: discovery).load(
            source, timing: timing)
    }

    /// Loads the contents once; runs on `queue`.
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
        let result = Result {
            guard case .file(let path) = source, discovery == .decoding, let memory = environment.cache
            else { return try read() }
            return try memory.contents(
                ofFile: path, timing: timing, environment: environment.sources, orElse: read)
        }
        return try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
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
