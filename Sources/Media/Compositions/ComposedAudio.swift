internal import LibAV

/// Mixer of a composition's audio items, sample-accurate. Sources are opened shortly before their items begin, and
/// closed after them. Confined to its output's queue.
final class ComposedAudio: FrameStream {
    let timeBase: Rational
    private let format: AudioFormat
    private let opener: CompositionOpener
    private let total: Int64
    private var position: Int64

    /// An audio item, with its range in samples of the composition.
    private final class Item {
        let index: Int
        let clip: AudioClip
        let first: Int64
        let end: Int64
        let ramp: GainRamp
        var samples: ClipAudio?
        var duck: DuckingGain?

        init(_ index: Int, _ clip: AudioClip, unit: Rational) {
            (self.index, self.clip) = (index, clip)
            first = clip.placement.timeRange.start.ticks(in: unit)
            end = max(first, clip.placement.timeRange.end.ticks(in: unit))
            ramp = GainRamp(clip.volume, origin: .zero, unit: unit)
        }
    }

    /// Items in order of their start.
    private let items: [Item]
    private var firstItem = 0
    private var active: [Item] = []
    /// Indices of the items under which other items are ducked.
    private let keys: Set<Int>

    /// Number of samples that are mixed at once. Ducking gains are updated once per block, so blocks are shorter with
    /// ducking.
    private static let block: Int64 = 1024
    private static let duckingBlock: Int64 = 256
    /// Number of samples before an item's start at which its source is opened.
    private static let lead: Int64 = 8192

    /// Creates a mixer whose first sample is the one at `time`.
    init(_ composition: Composition, from time: MediaTime, opener: CompositionOpener) throws {
        guard composition.isValid, let audioFormat = composition.audioFormat else {
            throw MediaError.invalidArgument("the composition has no audio, or is invalid")
        }
        format = audioFormat.mixed
        let unit = Rational(1, audioFormat.sampleRate)
        timeBase = unit
        self.opener = opener
        total = composition.sampleCount
        position = max(0, time.ticks(in: unit, rounding: .down))
        items = composition.audio.enumerated().map { Item($0, $1, unit: unit) }.sorted {
            ($0.first, $0.index) < ($1.first, $1.index)
        }
        keys = Set(composition.audio.compactMap(\.ducking?.under))
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        guard position < total else { return .ended }
        if opener.interrupt.isRaised { throw CancellationError() }
        let block = keys.isEmpty ? Self.block : Self.duckingBlock
        let until = min(total, position + block)
        try open(until: until)
        do throws(AVError) {
            let sum = try Frame.silence(format, samples: Int32(until - position))
            (sum.pts, sum.duration) = (position, until - position)
            try mix(into: sum, until: until)
            frame.take(sum)
        } catch {
            throw MediaError.encoding(track: .part(.composition), error)
        }
        position = until
        return .frame
    }

    private func open(until: Int64) throws {
        active.removeAll { $0.end <= position }
        while firstItem < items.count, items[firstItem].first < until + Self.lead {
            let item = items[firstItem]
            firstItem += 1
            guard item.end > position, item.end > item.first else { continue }
            let placement = item.clip.placement
            item.samples = ClipAudio(
                item.clip, from: item.first, to: item.end, format: format
            ) { [opener, format] in
                try opener.read(
                    placement,
                    as: .audio(
                        AudioOutputSettings(
                            sampleFormat: .planarFloat, sampleRate: format.sampleRate, layout: format.layout)),
                    $0)
            }
            try item.samples?.prepare(at: max(position, item.first))
            if let ducking = item.clip.ducking {
                item.duck = DuckingGain(ducking, sampleRate: format.sampleRate)
            }
            active.append(item)
        }
        // All sources are read before mixing starts, so that an error is attributed to its source.
        for item in active { try item.samples?.fill(until: min(until, item.end)) }
    }

    /// Mixes all active items. Those under which others are ducked come first, because their levels determine the gains
    /// of the ducked ones.
    private func mix(into sum: borrowing Frame, until: Int64) throws(AVError) {
        var levels: [Int: Float] = [:]
        for item in active where item.duck == nil {
            guard keys.contains(item.index) else {
                try item.samples?.add(to: sum, from: position, until: until, item.ramp)
                continue
            }
            let own = try Frame.silence(format, samples: Int32(until - position))
            try item.samples?.add(to: own, from: position, until: until, item.ramp)
            levels[item.index] = own.level
            try own.mix(from: 0, count: own.sampleCount, into: sum, at: 0, gain: 1, step: 0)
        }
        for item in active {
            guard let ducking = item.clip.ducking, var duck = item.duck else { continue }
            let own = try Frame.silence(format, samples: Int32(until - position))
            try item.samples?.add(to: own, from: position, until: until, item.ramp)
            let count = own.sampleCount
            let (from, to) = duck.advance(level: levels[ducking.under] ?? 0, samples: count)
            item.duck = duck
            try own.mix(
                from: 0, count: count, into: sum, at: 0, gain: from,
                step: (to - from) / Float(max(1, count)))
        }
    }
}

extension Frame {
    /// RMS level of planar float audio, over all channels.
    var level: Float {
        var (sum, count) = (Float(0), 0)
        for plane in 0..<min(8, channelLayout.channels) {
            _ = withPlane(plane) { bytes, _ in
                for sample in bytes.bindMemory(to: Float.self).prefix(sampleCount) { sum += sample * sample }
                count += sampleCount
            }
        }
        return count > 0 ? (sum / Float(count)).squareRoot() : 0
    }
}
