/// A main value of a plan in words, for messages about changes. The digest depends on the value that it describes, not on
/// the words.
package struct PlanPart: Codable, Hashable, NamedValue, Sendable {
    package var name: Name
    package var value: String

    /// The name of a part.
    package enum Name: Codable, Hashable, Sendable {
        /// The program, or one of FFmpeg's libraries, by its name.
        case program(String)
        /// The library of an encoder, by the encoder's name.
        case encoder(String)
        case source(SourceProperty)
        /// A source of a composition, by its index and name.
        case file(Int, name: String)
        /// A clip of a composition.
        case clip(Int)
        /// A layer of a composition.
        case layer(Int)
        /// An audio item of a composition.
        case audio(Int)
        /// A clip of a subtitle track of a composition.
        case subtitles(Int, clip: Int)
        case container
        case range
        case track(Track)
        /// A setting of a track's encoding, by its key in job files.
        case setting(Track, key: String)
        /// A tag of the file, by its key.
        case tag(String)
        case cover
        case images
    }

    /// A track of an output.
    package enum Track: Codable, Hashable, Sendable {
        case index(Int)
        /// The track of a rendition, by the rendition's id.
        case rendition(String)
    }

    /// A property by which a source is identified.
    package enum SourceProperty: String, Codable, Sendable {
        case name, size, time, inode, content, images, files
    }

    init(_ name: Name, _ value: String) { (self.name, self.value) = (name, value) }
}

extension PlanPart.Name: CustomStringConvertible {
    /// Whether the value identifies the source, such as its time.
    var identifiesSource: Bool {
        switch self {
        case .source, .file: true
        default: false
        }
    }

    /// Index of the output's track that the value belongs to; nil for any other value.
    var track: Int? {
        switch self {
        case .track(.index(let index)), .setting(.index(let index), key: _): index
        default: nil
        }
    }

    /// Name for the user, such as `source time` or `track 0 crf`.
    package var description: String {
        switch self {
        case .program(let name): name
        case .encoder(let name): "encoder \(name)"
        case .source(.name): "source"
        case .source(let property): "source \(property.rawValue)"
        case .file(let index, let name): "source \(index) \(name)"
        case .clip(let index): "clip \(index)"
        case .layer(let index): "layer \(index)"
        case .audio(let index): "audio \(index)"
        case .subtitles(let index, clip: 0): "subtitles \(index)"
        case .subtitles(let index, let clip): "subtitles \(index) clip \(clip)"
        case .container: "container"
        case .range: "range"
        case .track(let track): track.description
        case .setting(let track, let key): "\(track) \(key)"
        case .tag(let key): "tag \(key)"
        case .cover: "cover"
        case .images: "images"
        }
    }
}

extension PlanPart.Track: CustomStringConvertible {
    package var description: String {
        switch self {
        case .index(let index): "track \(index)"
        case .rendition(let id): "rendition \(id)"
        }
    }
}
