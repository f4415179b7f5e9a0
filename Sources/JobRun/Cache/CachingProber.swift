package import JobPlan
package import LibAV
internal import Media

/// A prober that takes the results of earlier probes from a cache, and stores those of its own, for requests that read more
/// than the headers of a local file.
package struct CachingProber: SourceProber {
    private let base: any SourceProber
    private let cache: ContentCache
    private let contents: SourceContents
    private let isForced: Bool

    package var environment: SourceEnvironment { base.environment }
    package var trials: SettingsValidationCache { base.trials }

    /// Creates a prober. `base` performs the requests; `state` identifies sources.
    package init(_ base: any SourceProber, cache: ContentCache, state: RunState) {
        (self.base, self.cache) = (base, cache)
        (contents, isForced) = (state.contents, state.isForced)
    }

    package func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        guard let path = request.path, !request.isBrief, request.package == nil,
            let digest = contents.digest(of: path), let key = CacheKey(request, content: digest)
        else { return try base.respond(to: request) }
        if !isForced, let known = cache.result(key, as: ProbeResponse.self) {
            if ReplyValidator.isValid(known), known.answers(request.subject) { return known }
            cache.refuse(key)
        }
        let response = try base.respond(to: request)
        if contents.digest(of: path) == digest { cache.store(key, response) }
        return response
    }
}

extension ProbeResponse {
    /// Whether the response is of the kind that a request has.
    func answers(_ subject: ProbeRequest.Subject) -> Bool {
        switch (subject, self) {
        case (.description, .description), (.images, .description),
            (.presentationTimes, .presentationTimes), (.order, .order), (.cut, .cut), (.joinedCut, .cut),
            (.clipCut, .cut), (.audioFormat, .audioFormat), (.subtitleEvents, .presence),
            (.cadence, .cadence), (.byteCount, .byteCount), (.activeArea, .activeArea), (.cover, .cover),
            (.trial, .verdict):
            true
        case (.keyFrames(_, let limit), .keyFrames(let times)),
            (.scenes(_, _, let limit), .keyFrames(let times)):
            times.count <= limit
        case (.frames(_, _, let numbers), .frames(let found)): found.positions.count == numbers.count
        default: false
        }
    }
}
