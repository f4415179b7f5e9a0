internal import Dispatch
public import FoundationEssentials
public import LibAV
internal import Locking

/// How an asset's times are found out.
public enum AssetTiming: String, Codable, Sendable, CaseIterable {
    /// From the header and the index: quick, and an estimate where they are.
    case fast
    /// From every packet: exact.
    case precise
}

/// A source of media (AVFoundation's `AVURLAsset`): a file, or a test pattern. Nothing is opened until a
/// property is asked for; then its properties load together, off the caller's thread.
public final class Asset: Sendable {
    /// Where the media come from.
    public enum Source: Hashable, Sendable {
        /// A file by its path.
        case file(String)
        /// A generated frame and tone.
        case pattern(TestPattern)
        /// Images one after the other.
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

    /// Where the media come from.
    public let source: Source
    /// How times are found out.
    public let timing: AssetTiming
    /// What it finds its media with.
    public let environment: MediaEnvironment
    private let discovery: StreamDiscovery
    private let state = Guarded(State.unknown)
    private let interrupt = InterruptFlag()
    private let queue = DispatchQueue(label: "tandem.asset")

    /// An asset over a source. `discovery`: how much is done to find out what its codecs are.
    public init(
        _ source: Source, timing: AssetTiming = .fast, environment: MediaEnvironment,
        discovery: StreamDiscovery = .decoding
    ) {
        self.discovery = discovery
        self.source = source
        self.timing = timing
        self.environment = environment
    }

    /// An asset over a file URL. An http or https URL loads where the environment allows it; any other fails to.
    public convenience init(
        url: URL, timing: AssetTiming = .fast, environment: MediaEnvironment = MediaEnvironment()
    ) {
        self.init(
            .file(url.isFileURL ? url.path : url.absoluteString), timing: timing, environment: environment)
    }

    /// Where a property stands; all load together.
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
    /// - Throws: `InputError` where the file can't be opened, `CancellationError` after `cancelLoading()`.
    public func load<Value>(_ property: AssetProperty<Value>) async throws -> Value {
        property.read(try await queue.result { try self.loadNow() })
    }

    /// Loads everything on the calling thread, for callers that have a queue of their own.
    public func loadSynchronously() throws -> AssetContents { try queue.sync { try loadNow() } }

    /// Gives up loading; a read that is under way ends soon. What is loaded stays.
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

    /// Runs on `queue`, so that it happens once.
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
            guard case .file(let path) = source, discovery == .decoding, let memory = environment.memory
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
