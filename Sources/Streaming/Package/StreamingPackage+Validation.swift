internal import LibAV
internal import Media

extension StreamingPackage {
    /// Maximum number of segments of a rendition: a week of segments of half a second.
    static let maxSegments = 1 << 20
    /// Maximum size of a segment and of an initialization section in bytes, so that sums of all don't overflow.
    static let maxSize: Int64 = 1 << 40

    /// Checks all values from which manifests are generated.
    package func validate() throws(StreamingError) {
        guard !formats.isEmpty, renditions.contains(where: \.isMedia) else {
            throw .emptyPackage
        }
        if let format = formats.first(where: { !container.formats.contains($0) }) {
            throw .unsupportedContainer(container, format)
        }
        var ids: Set<String> = []
        for rendition in renditions {
            guard Self.isValidID(rendition.id) else { throw .invalidID(rendition.id) }
            guard ids.insert(rendition.id.lowercased()).inserted else { throw .repeatedID(rendition.id) }
            try validate(rendition)
        }
        for variant in variants {
            guard variant.video != nil || variant.audio != nil,
                variant.audioGroup.map(Self.isValidID) ?? true,
                variant.video.map({ id in renditions.contains { $0.id == id && $0.video != nil } }) ?? true,
                variant.audio.map({ id in renditions.contains { $0.id == id && $0.audio != nil } }) ?? true
            else { throw .invalidVariant(variant) }
        }
    }

    /// Returns whether an id can name a folder, and needs no escapes in URIs and manifests.
    private static func isValidID(_ id: String) -> Bool {
        let bytes = id.utf8
        guard let first = bytes.first, bytes.count <= 128 else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "_")
        }
        return isLetter(first)
            && bytes.allSatisfy {
                isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    private func validate(_ rendition: StreamingRendition) throws(StreamingError) {
        let id = rendition.id
        func check(_ isValid: Bool, _ reason: String) throws(StreamingError) {
            if !isValid { throw .invalidRendition(id: id, reason: reason) }
        }
        try check(rendition.timescale > 0, "the timescale is \(rendition.timescale); expected at least 1")
        switch rendition.kind {
        case .video(let video):
            let isSized = (1...1 << 20).contains(video.width) && (1...1 << 20).contains(video.height)
            try check(isSized, "the size is \(video.width)x\(video.height)")
            try check(video.frameRate?.isPositive ?? true, "the frame rate isn't greater than 0")
            try check(
                video.sampleAspectRatio?.isPositive ?? true, "the sample aspect ratio isn't greater than 0")
        case .audio(let audio):
            try check(audio.sampleRate > 0, "the sample rate is \(audio.sampleRate); expected at least 1")
            try check(audio.layout.channels > 0, "audio has no channels")
        case .subtitles(let subtitles):
            try check(
                (1...Self.maxSize).contains(subtitles.fileSize), "the file size is \(subtitles.fileSize)")
        case .thumbnails(let sheet):
            if let problem = sheet.problem { try check(false, problem) }
            try check(rendition.segments.isEmpty, "thumbnails have segments")
        }
        if rendition.isMedia {
            try check(rendition.codec != nil, "the codec has no `CODECS` string (RFC 6381)")
            let size = rendition.initializationSize
            let sizes = container == .ts ? 0...0 : 1...Self.maxSize
            try check(sizes.contains(size), "the initialization section has \(size) bytes")
        }
        let needsSegments = rendition.isMedia || rendition.subtitles != nil && dividesSubtitles
        try check(!needsSegments || !rendition.segments.isEmpty, "there are no segments")
        try check(rendition.segments.count <= Self.maxSegments, "more than \(Self.maxSegments) segments")
        try validateSegments(of: rendition)
        if files == .single, container == .mp4, rendition.isMedia { _ = try SegmentIndex(rendition) }
    }

    private func validateSegments(of rendition: StreamingRendition) throws(StreamingError) {
        let boundaries = rendition.boundaries
        let isVideo = rendition.video != nil
        for (index, segment) in rendition.segments.enumerated() {
            func check(_ isValid: Bool, _ reason: String) throws(StreamingError) {
                if !isValid { throw .invalidSegment(id: rendition.id, index: index, reason: reason) }
            }
            try check(segment.start >= .zero && segment.start <= .longest, "the start is \(segment.start) s")
            try check(
                segment.duration > .zero && segment.duration <= .longest,
                "the duration is \(segment.duration) s")
            try check(
                boundaries[index] < boundaries[index + 1],
                index + 1 < rendition.segments.count
                    ? "the next segment doesn't start later" : "the segment is shorter than a tick")
            try check((1...Self.maxSize).contains(segment.size), "the size is \(segment.size) bytes")
            if let keyframe = segment.keyframe {
                try check(isVideo, "only segments of video have a keyframe")
                try check(
                    keyframe.offset >= 0 && keyframe.length > 0 && keyframe.offset <= segment.size
                        && keyframe.length <= segment.size - keyframe.offset,
                    "the keyframe isn't within the segment")
            }
        }
    }
}
