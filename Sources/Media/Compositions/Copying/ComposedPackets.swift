internal import LibAV

/// Producer of the packets of a composition's audio items, in order. Packets are copied as a whole, with times on the
/// composition's time line. A source is opened when its item begins, and closed after it. Confined to its output's
/// queue.
final class ComposedPackets: SampleProducer {
    private let clips: [AudioClip]
    private let opener: CompositionOpener
    private var index = 0
    private var read: CompositionRead?
    private var format: AudioPacketFormat?
    private var dropped = 0

    /// Creates a producer of all packets.
    /// - Throws: `MediaError.invalidArgument` for audio items that can't be copied (`Composition.audioObstacle`).
    init(_ composition: Composition, opener: CompositionOpener) throws {
        guard composition.isValid, composition.audioObstacle == nil else {
            throw MediaError.internalError("the audio items can't be copied")
        }
        clips = composition.audioOrder.map { composition.audio[$0] }
        self.opener = opener
    }

    var droppedSamples: Int { dropped + (read?.output.droppedSamples ?? 0) }

    func next() throws -> SampleSupply {
        while index < clips.count {
            let placement = clips[index].placement
            let current = try read ?? open(placement)
            read = current
            if var sample = try current.next() {
                let unit = sample.timeBase
                let shift =
                    placement.timeRange.start.ticks(in: unit) - placement.sourceRange.start.ticks(in: unit)
                sample.pts += shift
                sample.dts += shift
                return .sample(sample)
            }
            dropped += current.output.droppedSamples
            read = nil
            index += 1
        }
        return .ended
    }

    private func open(_ placement: ClipPlacement) throws -> CompositionRead {
        let read = try opener.read(placement, as: .wholePackets, ReadingExtent(placement.sourceRange))
        let own = AudioPacketFormat(read.output.track)
        guard format == nil || format == own else {
            throw MediaError.sourceChanged(
                "the audio of clip \(index) no longer has the format of the others")
        }
        format = own
        return read
    }
}

extension Composition {
    /// Indices of the audio items in order of their start.
    package var audioOrder: [Int] {
        audio.indices.sorted {
            audio[$0].placement.timeRange.start < audio[$1].placement.timeRange.start
        }
    }

    /// The reason why the audio items can't be copied into one track, with the index of the item; nil if they can.
    /// Codecs aren't compared.
    package var audioObstacle: (item: Int, reason: String)? {
        let order = audioOrder
        var position = MediaTime.zero
        for index in order {
            let range = audio[index].placement.timeRange
            if range.start < position { return (index, "it overlaps other audio") }
            if range.start > position {
                return (
                    index,
                    "there is a gap from \(position) s to \(range.start) s, which copied packets can't represent"
                )
            }
            position = range.end
        }
        for index in order {
            let item = audio[index]
            guard case .file = sources[item.placement.source] else {
                return (index, "its source is not a media file")
            }
            if item.isRepeated { return (index, "it is repeated") }
            if item.ducking != nil { return (index, "it is ducked under other audio") }
            if !item.volume.isFull { return (index, "its volume is changed") }
            if !item.placement.isPlain { return (index, "its speed is changed") }
        }
        return nil
    }
}
