internal import DequeModule
internal import Dispatch
internal import FoundationEssentials
internal import LibAV
internal import Locking
internal import Synchronization
internal import Publishing

/// Failure, cancellation and completion of a writer.
extension AssetWriter {
    /// Fails the writer and discards the file; only the first error is kept.
    func fail(_ error: any Error) {
        state.withLock { state in
            guard state.status == .working || state.status == .unknown else { return }
            state.status = .failed
            state.error = error
            state.dropWaiting()
            // Submitted before the failure is visible, so that the completion of `finishWriting` follows.
            if publishing == .immediately { endRecording() }
        }
        if publishing != .immediately { release() }
        wakeSleepers()
    }

    /// Stops writing and discards the file, also if it is published already (`cancelWriting`).
    public func cancelWriting() {
        let isCancelled = state.withLock { state in
            guard [.working, .unknown].contains(state.status), !state.isPublishing else { return false }
            state.status = .cancelled
            state.dropWaiting()
            return true
        }
        guard isCancelled else { return }
        if publishing == .immediately { output?.withdraw() }
        release()
        wakeSleepers()
    }

    /// Truncates a published file to its last complete fragment, or removes it if there is none. On `queue`, because a
    /// fragment may be being written.
    private func endRecording() {
        queue.async { @Sendable in
            guard self.status == .failed else { return }
            self.muxer = nil
            self.gate = nil
            self.pacer = nil
            guard let output = self.output else { return }
            if self.completeSize > 0, (try? output.truncate(to: self.completeSize)) != nil {
                try? output.synchronize()
            } else {
                output.withdraw()
                output.discard()
            }
        }
    }

    private func release() {
        output?.discard()
        queue.async { @Sendable in
            self.muxer = nil
            self.gate = nil
            self.pacer = nil
            self.segments?.delegate = nil
        }
    }

    /// Writes the remaining packets and the trailer. A writer created with a URL then syncs its file to disk
    /// and publishes it. Every input must be marked as finished. It is an error if no input of video or audio
    /// has samples in the session (`MediaError.noSamples`). `completion` is called on a private queue.
    public func finishWriting(completion: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { @Sendable in
            let unfinished = self.state.withLock { state in
                state.status != .working || state.inputs.contains { !$0.isFinished }
            }
            guard !unfinished else {
                let error = self.error ?? MediaError.misuse("all inputs must be finished before the writer")
                // After the file was truncated: the writer may have failed while this call waited for `queue`.
                return self.queue.async { @Sendable in completion(error) }
            }
            self.drain()
            do {
                try self.finishGate()
                // The header before fragments is written already.
                while self.stop == nil, !self.isFragmented, self.segments == nil,
                    let packet = self.headers.popFirst()
                {
                    let index = packet.streamIndex
                    try self.write(packet, input: index)
                }
                if let error = self.error { throw error }
                if let pacer = self.pacer {
                    while let packet = pacer.next() { try self.write(packet, pacedBy: pacer) }
                }
                if let segments = self.segments, segments.hasSamples, segments.canEndSegment {
                    try self.endFragment()
                }
                try self.checkContent()
                try self.muxer?.finish(flushing: !self.container.model.endsWithTrailer)
                self.muxer = nil
                try self.finishOutput()
                self.state.withLock { $0.status = .completed }
                completion(nil)
            } catch {
                let failure = (error as? AVError).map(MediaError.writing) ?? error
                self.fail(failure)
                // After the file was truncated.
                self.queue.async { @Sendable in completion(self.error ?? failure) }
            }
        }
    }

    /// Throws if the writer would publish a file whose tracks of video and audio have no samples, which players can't open.
    private func checkContent() throws {
        guard publishesItself else { return }
        let written = zip(inputs, writtenPackets).filter {
            $0.0.mediaType == .video || $0.0.mediaType == .audio
        }
        guard let first = written.first?.0, written.allSatisfy({ $0.1 == 0 }) else { return }
        throw MediaError.noSamples(track: first.reference)
    }

    /// Corrects and publishes the file after the muxer has finished, or passes the last segment to the delegate.
    private func finishOutput() throws {
        guard let output else {
            try segments?.passRest(of: self)
            segments?.delegate = nil
            return try beginPublishing()
        }
        try correctIndex(of: output)
        if let limit = fileLengthLimit, output.size > limit {
            throw MediaError.overLimit(size: output.size, limit: limit)
        }
        if let error { throw error }
        // A caller that publishes the file syncs it first.
        if publishesItself { try output.synchronize() }
        try beginPublishing()
        if publishesItself, !isHeld { try output.publish(replacing: false) }
    }

    /// Prevents a later cancel, which would publish an empty file. Throws if the writer was cancelled or has failed.
    private func beginPublishing() throws {
        let status = state.withLock { state in
            state.isPublishing = state.status == .working
            return state.status
        }
        if let error { throw error }
        guard status == .working else { throw MediaError.misuse("the writer was cancelled") }
    }

    /// Ends writing by an error that isn't FFmpeg's; returns the error for the muxer's caller.
    func ended(by error: any Error) -> AVError {
        fail(error)
        return AVError(code: -125, operation: "writing", detail: "\(error)")
    }

    /// Ends a fragment. If the file is published already, the fragment is written to disk; a segment is passed to the
    /// delegate.
    func endFragment() throws(AVError) {
        if let segments { return try endSegment(segments) }
        try muxer?.endFragment()
        guard publishing == .immediately, let output else { return }
        if !hasEntryBoxes {
            do {
                try writeEntryBoxes(to: output)
            } catch {
                throw ended(by: error)
            }
        }
        let code = output.synchronizeData()
        guard code == 0 else { throw AVError(code: -code, operation: "fdatasync") }
        completeSize = output.size
    }

    /// Finishes writing, like `finishWriting(completion:)`.
    public func finishWriting() async throws {
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            finishWriting { @Sendable error in continuation.resume(returning: error) }
        }
        if let failure { throw failure }
    }

    /// Publishes the file if its session deferred publication; the writer must be completed.
    func publishHeld() throws {
        if publishesItself, isHeld { try output?.publish(replacing: false) }
    }

    private func finishGate() throws {
        guard gate != nil else { return }
        if stop == nil,
            let stop = try gate?.finish(into: { packet, index throws(AVError) in
                try writeCounted(packet, input: index)
            })
        {
            end(at: stop)
        }
        gate = nil
        guard hasLateChapters, muxer != nil, error == nil else { return }
        try OutputHeader.setChapters(chapters.ending(at: stop), of: &muxer!, in: container)
    }

    private func writeEntryBoxes(to output: TemporaryFile) throws {
        guard let source = FileSource(borrowing: output.descriptor) else { return }
        try MoviePatcher.apply(tracks.map(\.entryBoxes), to: source) { bytes, offset in
            try MoviePatcher.write(bytes, at: offset, to: output.descriptor)
        }
        hasEntryBoxes = true
    }

    private func correctIndex(of output: TemporaryFile) throws {
        guard container.hasEditLists else { return }
        if !hasEntryBoxes { try writeEntryBoxes(to: output) }
        let scale = Rational(1, movieTimescale)
        let patches = zip(inputs, tracks).enumerated().map { index, pair in
            let (input, track) = pair
            var patch = MoviePatcher(mediaTimescale: Int64(track.timeBase.den))
            if let hidden = input.ending.delay {
                let unit = track.packetTimeBase
                patch.start = (unit.rescale(hidden.delay, to: scale), unit.rescale(hidden.padding, to: scale))
            }
            patch.end = pacer?.end(of: index).map { track.timeBase.rescale($0, to: scale) }
            patch.shownEnd = input.shownEnd?.ticks(in: scale)
            patch.hasInBandSets = input.ending.hasOtherParameterSets
            return patch
        }
        try MoviePatcher.apply(patches, to: output.descriptor)
    }
}
