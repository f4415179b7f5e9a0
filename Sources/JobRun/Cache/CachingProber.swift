package import JobPlan
package import LibAV
internal import Media

/// A prober that takes the results of earlier probes from a cache, and stores those of its own, for requests that decode the
/// frames of a local file. Others read a file as fast as its digest is computed.
package struct CachingProber: SourceProber {
    private let base: any SourceProber
    private let cache: ContentCache
    private let state: RunState

    package var environment: SourceEnvironment { base.environment }
    package var trials: SettingsValidationCache { base.trials }

    /// Creates a prober. `base` performs the requests; `state` identifies sources.
    package init(_ base: any SourceProber, cache: ContentCache, state: RunState) {
        (self.base, self.cache, self.state) = (base, cache, state)
    }

    package func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        guard let path = request.path, request.package == nil, request.decodesFrames,
            let digest = state.contentDigest(ofSource: path), let key = CacheKey(request, content: digest)
        else { return try base.respond(to: request) }
        if !state.isForced, let known = cache.result(key, as: ProbeResponse.self) {
            if ReplyValidator.isValid(known), known.answers(request.subject) { return known }
            cache.refuse(key)
        }
        let response = try base.respond(to: request)
        if state.contentDigest(ofSource: path) == digest { cache.store(key, response) }
        return response
    }
}

extension ProbeRequest {
    /// Whether frames are decoded for the response.
    fileprivate var decodesFrames: Bool {
        switch subject {
        case .scenes, .activeArea: true
        default: false
        }
    }
}

extension ProbeResponse {
    /// Whether the response is one to a request that decodes frames.
    fileprivate func answers(_ subject: ProbeRequest.Subject) -> Bool {
        switch (subject, self) {
        case (.scenes(_, _, let limit), .keyFrames(let times)): times.count <= limit
        case (.activeArea, .activeArea): true
        default: false
        }
    }
}
