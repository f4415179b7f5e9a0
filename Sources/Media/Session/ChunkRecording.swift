internal import Dispatch
package import LibAV
internal import Locking

/// The encoding of some chunks of a video track, whose packets are kept in a file for the session that encodes the whole
/// track (`AssetWriterInput.storedChunks`), possibly on another machine.
///
/// Frames are read from the start, so that those of the recorded chunks, and their times, are exactly those of the whole.
package final class ChunkRecording: Sendable {
    private let reader: AssetReader
    private let output: AssetReaderOutput
    private let configuration: EncoderConfiguration
    private let container: ContainerType
    private let maxChunks: Int?
    private let state = Guarded(Progress())
    private let cancelFlag = InterruptFlag()

    /// Creates a recording of the output of a reader that isn't started. `configuration` divides the track into chunks;
    /// `container` is that of the whole track's file. At most `maxChunks` chunks are encoded at a time; nil for the number of
    /// processors.
    /// - Throws: `MediaError` if the reader doesn't accept the output.
    package init(
        reader: AssetReader, output: AssetReaderOutput, configuration: EncoderConfiguration,
        container: ContainerType, maxChunks: Int?
    ) throws {
        try reader.add(output)
        (self.reader, self.output, self.configuration) = (reader, output, configuration)
        (self.container, self.maxChunks) = (container, maxChunks)
    }

    /// Numbers of frames.
    package struct Progress: Sendable {
        package var read = 0
        package var encoded = 0
    }

    /// Numbers of frames so far.
    package var progress: Progress { state.withLock { $0 } }

    /// Cancels the recording, which throws `CancellationError`. May be called from any queue.
    package func cancel() {
        cancelFlag.raise()
        reader.cancelReading()
    }

    /// Reads the track up to the last recorded chunk, and passes the file's bytes to `write`, in order. Blocks the caller.
    /// Returns the number of frames read, and the end of the last one from the start of the extent.
    /// - Throws: The errors of reading, encoding and writing, or `CancellationError`.
    package func record(
        _ chunks: Range<Int>, identity: String, write: @escaping ([UInt8]) throws -> Void
    ) throws -> TrackReport {
        let recorder = try ChunkRecorder(
            chunks, identity: identity,
            onPacket: { () throws(AVError) in
                self.state.withLock { $0.encoded += 1 }
                if self.cancelFlag.isRaised { throw .ended("encoding") }
            }, write: write)
        let opening = EncoderOpening(
            configuration: configuration, mediaType: .video, container: container,
            globalHeaders: container.requiresGlobalHeaders, isFedByReader: true, isOnlyWork: true,
            maxChunks: maxChunks, sourceBitsPerPixel: output.track.bitsPerPixel, scaling: .resizeAspect,
            boundaries: nil, recorder: recorder, canStartLate: false,
            reference: output.track.reference)
        guard let stage = try opening.open().stage as? VideoEncoderStage else {
            throw MediaError.internalError("chunks of audio")
        }
        let range = reader.extent.outputRange
        let start = range?.start ?? .zero
        let end = reader.extent.isOpen ? nil : range?.end
        try reader.startReading()
        defer { reader.cancelReading() }
        let unused = { (_: consuming Packet) throws(AVError) in }
        var (frames, last) = (0, MediaTime.zero)
        do {
            while !stage.hasRecordedFrames, let sample = try output.copyNextSampleBuffer() {
                try stage.check(sample, start: start, end: end)
                let until = MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase) - start
                (frames, last) = (frames + 1, max(last, until))
                state.withLock { $0.read = frames }
                try stage.append(sample, start: start, end: end, into: unused)
            }
            if !cancelFlag.isRaised { try stage.finish(into: unused) }
        } catch  where cancelFlag.isRaised {
            throw CancellationError()
        } catch let error as AVError {
            throw recorder.failure ?? MediaError.encoding(track: output.track.reference, error)
        }
        if cancelFlag.isRaised { throw CancellationError() }
        return TrackReport(samples: frames, end: last, damage: output.damagedSamples)
    }
}
