internal import Diagnostics
internal import ExactStrings
internal import JobPlan
internal import Streaming

/// The table of a package's renditions in the HTML report, with links to its manifests.
enum PackageMarkup {
    /// Maximum number of renditions that are shown; the JSON report contains all of them.
    private static let maxRenditions = 64

    /// Returns the table of a package at an absolute path. Links are relative to `folder`, or absolute if it is nil.
    static func render(_ package: PackageSummary, at destination: String, in folder: String?) -> String {
        func link(_ path: String, _ text: String) -> String {
            "<a href=\"\(reference(to: destination + "/" + path, from: folder))\">\(Markup.escaped(text))</a>"
        }
        var text = "<h3>Package</h3>\n"
        if !package.manifests.isEmpty {
            text += "<p>\(package.manifests.map { link($0, $0) }.joined(separator: ", "))</p>\n"
        }
        text += "<div class=\"wide\"><table aria-label=\"Renditions\">\n<tr>"
        for head in [
            "Rendition", "Type", "Codecs", "Format", "Language", "Segments", "Size", "Peak", "Average",
        ] {
            text += "<th scope=\"col\">\(head)</th>"
        }
        text += "</tr>\n"
        for rendition in package.renditions.prefix(maxRenditions) {
            let format = rendition.resolution ?? rendition.channels.map { counted($0, "channel") } ?? ""
            let cells = [
                rendition.kind.rawValue, rendition.codecs ?? "", format,
                [rendition.language, rendition.title].compactMap(\.self).joined(separator: ", "),
                rendition.segments > 0 ? "\(rendition.segments)" : "", PlanText.bytes(rendition.size),
                rate(rendition.bandwidth), rate(rendition.averageBandwidth),
            ]
            let name = rendition.playlist.map { link($0, rendition.id) } ?? Markup.escaped(rendition.id)
            text += "<tr><td>\(name)</td>"
            for cell in cells { text += "<td>\(Markup.escaped(cell))</td>" }
            text += "</tr>\n"
        }
        return text + "</table></div>\n"
    }

    private static func rate(_ bitRate: Int64) -> String {
        bitRate > 0 ? "\((bitRate + 500) / 1000) kbit/s" : ""
    }

    /// Returns a URI of an absolute path, relative to a folder. Everything except for unreserved characters is
    /// percent-encoded.
    static func reference(to path: String, from folder: String?) -> String {
        let target = path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let base = folder?.utf8.split(separator: UInt8(ascii: "/")).map({ Array($0) }) else {
            return "file:///" + target.map { PercentEncoding.component($0) }.joined(separator: "/")
        }
        let common = zip(target, base).prefix { $0 == $1 }.count
        let steps =
            Array(repeating: "..", count: base.count - common)
            + target.dropFirst(common).map { PercentEncoding.component($0) }
        // A first component with a colon would be a scheme; colons are encoded.
        return steps.joined(separator: "/")
    }
}
