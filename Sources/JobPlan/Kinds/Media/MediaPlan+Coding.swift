internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The encoded form of a media plan: its values stand beside those of the output.
extension MediaPlan {
    /// The values that outputs of other kinds are encoded with.
    static let empty = MediaPlan()

    /// Decodes the values. Throws `DecodingError` if one is missing.
    init(from values: KeyedDecodingContainer<OutputPlan.CodingKeys>) throws {
        optimizesForNetwork = try values.decode(Bool.self, forKey: .optimizesForNetwork)
        fragmentInterval = try values.decodeIfPresent(MediaTime.self, forKey: .fragmentInterval)
        segmentation = try values.decodeIfPresent(SegmentationPlan.self, forKey: .segmentation)
        metadata = try values.decode([MetadataEntry].self, forKey: .metadata)
        requestedTags = try values.decode(Annotation<[String]>.self, forKey: .requestedTags).wrappedValue
        keepsFileTimes = try values.decode(Bool.self, forKey: .keepsFileTimes)
        chapters = try values.decode([AssetChapter].self, forKey: .chapters)
        covers = try values.decode([Int].self, forKey: .covers)
        cover = try values.decodeIfPresent(CoverPlan.self, forKey: .cover)
        attachments = try values.decode([Int].self, forKey: .attachments)
        sizeLimit = try values.decodeIfPresent(Int64.self, forKey: .sizeLimit)
        sizeLimitLocation = try values.decodeIfPresent(SourceRange.self, forKey: .sizeLimitLocation)
    }

    /// Encodes the values.
    func encode(to values: inout KeyedEncodingContainer<OutputPlan.CodingKeys>) throws {
        try values.encode(optimizesForNetwork, forKey: .optimizesForNetwork)
        try values.encodeIfPresent(fragmentInterval, forKey: .fragmentInterval)
        try values.encodeIfPresent(segmentation, forKey: .segmentation)
        try values.encode(metadata, forKey: .metadata)
        try values.encode(Annotation(wrappedValue: requestedTags), forKey: .requestedTags)
        try values.encode(keepsFileTimes, forKey: .keepsFileTimes)
        try values.encode(chapters, forKey: .chapters)
        try values.encode(covers, forKey: .covers)
        try values.encodeIfPresent(cover, forKey: .cover)
        try values.encode(attachments, forKey: .attachments)
        try values.encodeIfPresent(sizeLimit, forKey: .sizeLimit)
        try values.encodeIfPresent(sizeLimitLocation, forKey: .sizeLimitLocation)
    }
}
