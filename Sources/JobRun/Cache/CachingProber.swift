internal import FileSystem
package import JobPlan
package import LibAV
internal import Media

/// A prober that takes the results of earlier probes from the state or a cache, and stores those of its own, for requests
/// that decode a local file. Others take less time than a file's digest.
package struct CachingProber: SourceProber {
    private let base: any SourceProber
    private let cache: ContentCache?
    private let state: RunState

    package var environment: SourceEnvironment { base.environment }
    package var trials: SettingsValidationCache { base.trials }

    /// Creates a prober. `base` performs the requests; `state` identifies sources and has the results of earlier runs.
    package init(_ base: any SourceProber, cache: ContentCache?, state: RunState) {
        (self.base, self.cache, self.state) = (base, cache, state)
    }

    package func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        guard let path = request.path, request.package == nil, request.decodes,
            !SourceLocation.isRemote(path), let name = CacheKey(request, content: "")?.text
        else { return try base.respond(to: request) }
        if let known = state.response(to: name, path: path), known.isUsable(for: request) { return known }
        let identity = FileIdentity.changeToken(path: path)
        let response = try cached(request, path)
        if response.isUsable(for: request) {
            state.record(response, to: name, path: path, identity: identity)
        }
        return response
    }

    /// Returns the cached response to a request about a file, or else performs the request and caches the response.
    private func cached(_ request: ProbeRequest, _ path: String) throws(SourceProblem) -> ProbeResponse {
        guard let cache, let digest = state.contentDigest(ofSource: path),
            let key = CacheKey(request, content: digest)
        else { return try base.respond(to: request) }
        if !state.isForced, let known = cache.result(key, as: ProbeResponse.self) {
            if known.isUsable(for: request) { return known }
            cache.refuse(key)
        }
        let response = try base.respond(to: request)
        if state.contentDigest(ofSource: path) == digest { cache.store(key, response) }
        return response
    }
}

extension ProbeRequest {
    /// Whether frames or audio are decoded for the response.
    fileprivate var decodes: Bool {
        switch subject {
        case .scenes, .activeArea, .loudness: true
        default: false
        }
    }
}

extension ProbeResponse {
    /// Returns whether the response is a valid one to a request that decodes frames or audio, with a result to keep.
    fileprivate func isUsable(for request: ProbeRequest) -> Bool {
        guard ReplyValidator.isValid(self) else { return false }
        return switch (request.subject, self) {
        case (.scenes(_, _, let limit), .keyFrames(let times)): times.count <= limit
        case (.activeArea, .activeArea), (.loudness, .loudness(.some)): true
        default: false
        }
    }
}
