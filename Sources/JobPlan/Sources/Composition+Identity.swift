internal import FileSystem
internal import LibAV
package import Media
internal import Publishing

extension CompositionSource {
    /// Identity of the source, which changes with its files; nil if the source is missing. The size of a remote source
    /// is checked when it is read.
    package var identity: String? { identity(on: SystemDisk()) }

    /// Returns the identity of the source on a disk; nil if it is missing.
    func identity(on disk: any DiskQueries) -> String? {
        switch self {
        case .file(let path) where SourceLocation.isRemote(path): "remote"
        case .file(let path):
            disk.identity(of: path).map {
                "\($0.device) \($0.inode) \($0.size) \($0.modified).\($0.modifiedNanoseconds)"
            }
        case .images(let sequence): sequence.filesIdentity(on: disk)
        case .pattern: ""
        }
    }

    /// Name of the source for the user.
    package var name: String {
        switch self {
        case .file(let path): path
        case .images(let sequence): sequence.path
        case .pattern(let pattern): "test signal \(pattern.name)"
        }
    }
}

extension Composition {
    /// Returns the file name of a source.
    func shortName(of source: Int) -> String {
        guard sources.indices.contains(source) else { return "" }
        let name = sources[source].name
        return name.split(separator: "/").last.map(String.init) ?? name
    }

    /// Files of the fonts that text layers use.
    var fontFiles: [String] {
        layers.compactMap { if case .text(let text) = $0.content { text.fontFile } else { nil } }
    }

    /// Returns the contents of the composition, a line for each clip, so that changes can be reported by clip.
    /// `identities` contains the identity of each source; nil if sources are identified by content.
    func descriptions(identities: [String]?) -> [PlanPart] {
        func name(_ source: Int) -> String {
            identities == nil || !sources.indices.contains(source) ? "source \(source)" : sources[source].name
        }
        func described(_ placement: ClipPlacement) -> String {
            let name = name(placement.source)
            let (from, at) = (placement.sourceRange, placement.timeRange)
            return
                "\(name) track \(placement.track), \(from.start) s to \(from.end) s at \(at.start) s to \(at.end) s"
        }
        var parts: [PlanPart] = []
        for (index, clip) in clips.enumerated() {
            parts.append(PlanPart(.clip(index), described(clip.placement)))
        }
        for (index, layer) in layers.enumerated() {
            let what =
                switch layer.content {
                case .frames(let placement, let position, _):
                    "\(described(placement)) in \(position.width)x\(position.height)+\(position.x)+\(position.y)"
                case .text(let text): "text \(text.text)"
                case .subtitles(let cues):
                    "subtitles of \(name(cues.source)) track \(cues.track)"
                }
            parts.append(
                PlanPart(.layer(index), "\(what), \(layer.timeRange.start) s to \(layer.timeRange.end) s"))
        }
        for (index, clip) in audio.enumerated() {
            parts.append(PlanPart(.audio(index), described(clip.placement)))
        }
        for (index, track) in subtitles.enumerated() {
            for (number, clip) in track.clips.enumerated() {
                parts.append(PlanPart(.subtitles(index, clip: number), described(clip)))
            }
        }
        for (index, (source, identity)) in zip(sources, identities ?? []).enumerated()
        where !identity.isEmpty {
            parts.append(PlanPart(.file(index, name: source.name), identity))
        }
        return parts
    }
}
