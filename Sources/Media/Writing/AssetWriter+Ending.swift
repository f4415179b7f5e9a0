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
        }
        release()
        wakeSleepers()
    }

    /// Stops writing and discards the file (AVFoundation's `cancelWriting()`).
    public func cancelWriting() {
        state.withLock { state in
            guard state.status == .working || state.status == .unknown else { return }
            state.status = .cancelled
            state.dropWaiting()
        }
        release()
        wakeSleepers()
    }

    private func release() {
        output.discard()
        queue.async { @Sendable in
            self.muxer = nil
            self.gate = nil
            self.pacer = nil
        }
    }

    /// Writes the remaining packets and the trailer. A writer created with a URL then syncs its file to disk
    /// and publishes it. Every input must be marked as finished. `completion` is called on a private queue.
    public func finishWriting(completion: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { @Sendable in
            let unfinished = self.state.withLock { state in
                state.status != .working || state.inputs.contains { !$0.isFinished }
            }
            guard !unfinished else {
                completion(self.error ?? MediaError.misuse("all inputs must be finished before the writer"))
                return
            }
            self.drain()
            do {
                try self.finishGate()
                // With fragments, the headers were written before them.
                while self.stop == nil, self.pacer == nil, let packet = self.headers.popFirst() {
                    let index = packet.streamIndex
                    try self.write(packet, input: index)
                }
                if let error = self.error { throw error }
                if let pacer = self.pacer {
                    while let packet = pacer.next() { try self.write(packet, pacedBy: pacer) }
                }
                try self.muxer?.finish(flushing: !self.container.endsWithTrailer)
                self.muxer = nil
                try self.correctIndex()
                if let limit = self.fileLengthLimit, self.output.size > limit {
                    throw MediaError.overLimit(size: self.output.size, limit: limit)
                }
                if let error = self.error { throw error }
                // If the caller publishes the file, the caller also syncs it.
                if self.publishesItself { try self.output.synchronize() }
                if self.publishesItself, !self.isHeld { try self.output.publish(replacing: false) }
                self.state.withLock { $0.status = .completed }
                completion(nil)
            } catch {
                let failure = (error as? AVError).map(MediaError.writing) ?? error
                self.fail(failure)
                completion(self.error ?? failure)
            }
        }
    }

    /// Finishes writing, like `finishWriting(completion:)`, and throws the writer's error.
    public func finishWriting() async throws {
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            finishWriting { @Sendable error in continuation.resume(returning: error) }
        }
        if let failure { throw failure }
    }

    /// Publishes the file if its session deferred publication; the writer must be completed.
    func publishHeld() throws {
        if publishesItself, isHeld { try output.publish(replacing: false) }
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

    private func correctIndex() throws {
        guard container.hasEditLists else { return }
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
