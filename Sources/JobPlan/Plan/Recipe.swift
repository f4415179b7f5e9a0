internal import BinaryCoding
internal import FileSystem
internal import LibAV
internal import Media

/// A value that contains more than what determines an output. A digest is computed from its recipe.
protocol RecipeConvertible: Encodable {
    /// Returns the value that is encoded for a digest. Nested values are replaced by their recipes as well.
    func recipe(by identification: SourceIdentification) -> any Encodable
}

/// The values by which a digest identifies the sources of an output.
struct SourceIdentification: Sendable {
    /// Digest of the sources' bytes; nil if sources are identified by their paths, inodes, sizes and modification times.
    var content: String?
    /// Whether the output receives the modification time of its source.
    var keepsTimes: Bool
}

extension InputPlan.Source: RecipeConvertible {
    private struct Recipe: Encodable {
        var path: String?
        var identity: FileIdentity?
        var size: Int64?
        var time: String?
        var content: String?
        var images: ImageSequence?
        var composition: Composition?
        /// Identities of the files of `images` or `composition`.
        var files: [String]?
    }

    /// The source without paths and identities if it is identified by content.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        let content = identification.content
        switch self {
        case .file(let path, let identity):
            guard let content else { return Recipe(path: path, identity: identity) }
            return Recipe(
                size: identity.size, time: identification.keepsTimes ? identity.time : nil, content: content)
        case .images(let sequence, let identity):
            return Recipe(content: content, images: sequence, files: content == nil ? [identity] : nil)
        case .composition(let composition, let identities):
            return Recipe(
                content: content, composition: composition, files: content == nil ? identities : nil)
        case .pattern, .job: return self
        }
    }
}

extension FileIdentity: RecipeConvertible {
    private struct Recipe: Encodable {
        var inode: UInt64
        var size: Int64
        var time: String
    }

    /// The identity without the device number, which differs between machines on a shared file system.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        Recipe(inode: inode, size: size, time: time)
    }

    /// Modification time in seconds and nanoseconds.
    var time: String { "\(modified).\(modifiedNanoseconds)" }
}

extension CompositionSource: RecipeConvertible {
    /// The source without its path if it is identified by content. Its index in the composition remains.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        switch self {
        case .file: identification.content == nil ? self : "file"
        case .pattern, .images: self
        }
    }
}

extension ImageSequence: RecipeConvertible {
    private struct Recipe: Encodable {
        var numbers: Numbers?
        var frameRate: Rational
        var frameCount: Int64
    }

    /// The sequence without its path if it is identified by content.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        if identification.content == nil { return self }
        return Recipe(numbers: numbers, frameRate: frameRate, frameCount: frameCount)
    }
}

extension SegmentedPackage: RecipeConvertible {
    private struct Recipe: Encodable {
        var parts: [Part]
        var identity: String?
    }

    /// The renditions, without the files' identity if they are identified by content.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        Recipe(parts: parts, identity: identification.content == nil ? identity : nil)
    }
}

extension TrackDescription: RecipeConvertible {
    /// The description without the profile, which the source's identity determines.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        var track = self
        track.profile = nil
        return track
    }
}

extension MediaTime: RecipeConvertible {
    /// The time in seconds, as text for messages about changes: `1/25 s`, `2 s`.
    func recipe(by identification: SourceIdentification) -> any Encodable {
        timescale == 1 ? "\(value) s" : "\(value)/\(timescale) s"
    }
}

/// A list of tags or options. Its entries are identified by their keys, and their order has no meaning.
extension [MetadataEntry]: RecipeConvertible {
    private struct Recipe: Encodable {
        var entries: [MetadataEntry]

        private struct Key: LeafEncoder.EntryKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (key, entries) in Dictionary(grouping: entries, by: \.key) {
                let (key, values) = (Key(stringValue: key), entries.map(\.value))
                // A key may occur several times.
                if values.count == 1 {
                    try container.encode(values[0], forKey: key)
                } else {
                    try container.encode(values, forKey: key)
                }
            }
        }
    }

    func recipe(by identification: SourceIdentification) -> any Encodable { Recipe(entries: self) }
}
