internal import FileSystem
internal import LibAV
package import Media

extension CompositionSource {
    /// What tells a change of it, as one word; nil where it is gone. Of what a server has nothing is known but its size, which whoever
    /// reads it sees.
    package var identity: String? {
        switch self {
        case .file(let path) where SourceLocation.isRemote(path): "remote"
        case .file(let path):
            FileIdentity(path: path).map {
                "\($0.device) \($0.inode) \($0.size) \($0.modified).\($0.modifiedNanoseconds)"
            }
        case .images(let sequence): sequence.filesIdentity
        case .pattern: ""
        }
    }

    /// What it is called, for people.
    package var name: String {
        switch self {
        case .file(let path): path
        case .images(let sequence): sequence.path
        case .pattern(let pattern): "test signal \(pattern.name)"
        }
    }
}

extension Composition {
    /// What a source is called beside others: its file's name.
    func shortName(of source: Int) -> String {
        guard sources.indices.contains(source) else { return "" }
        let name = sources[source].name
        return name.split(separator: "/").last.map(String.init) ?? name
    }

    /// The files of the fonts that its texts are written in.
    var fontFiles: [String] {
        layers.compactMap { if case .text(let text) = $0.content { text.fontFile } else { nil } }
    }

    /// Where its sources lie doesn't matter, but for which of them is which.
    mutating func forgetPaths() {
        for index in sources.indices {
            switch sources[index] {
            case .file: sources[index] = .file("\(index)")
            case .images(var sequence):
                sequence.path = "\(index)"
                sources[index] = .images(sequence)
            case .pattern: break
            }
        }
    }

    /// What it is made of, a line a clip: what tells which one changed. `identities` are those of the sources; nil where their content
    /// counts.
    func digest(identities: [String]?) -> [MetadataEntry] {
        func told(_ placement: ClipPlacement) -> String {
            let name = identities == nil ? "source \(placement.source)" : sources[placement.source].name
            let (from, at) = (placement.sourceRange, placement.timeRange)
            return
                "\(name) track \(placement.track), \(from.start) s to \(from.end) s at \(at.start) s to \(at.end) s"
        }
        var parts: [MetadataEntry] = []
        for (index, clip) in clips.enumerated() {
            parts.append(MetadataEntry(key: "clip \(index)", value: told(clip.placement)))
        }
        for (index, layer) in layers.enumerated() {
            let what =
                switch layer.content {
                case .frames(let placement, let place, _):
                    "\(told(placement)) in \(place.width)x\(place.height)+\(place.x)+\(place.y)"
                case .text(let text): "text \(text.text)"
                case .subtitles(let cues):
                    "cues of \(identities == nil ? "source \(cues.source)" : sources[cues.source].name) track \(cues.track)"
                }
            parts.append(
                MetadataEntry(
                    key: "layer \(index)",
                    value: "\(what), \(layer.timeRange.start) s to \(layer.timeRange.end) s"))
        }
        for (index, clip) in audio.enumerated() {
            parts.append(MetadataEntry(key: "audio \(index)", value: told(clip.placement)))
        }
        for (index, track) in subtitles.enumerated() {
            for clip in track.clips {
                parts.append(MetadataEntry(key: "cues \(index)", value: told(clip)))
            }
        }
        for (index, identity) in (identities ?? []).enumerated() where !identity.isEmpty {
            parts.append(MetadataEntry(key: "source \(index) \(sources[index].name)", value: identity))
        }
        return parts
    }
}
