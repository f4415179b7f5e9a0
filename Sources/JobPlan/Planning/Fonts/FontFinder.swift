internal import ExactStrings
internal import FileSystem
internal import Locking
internal import Publishing

/// Lookup of font files by font name, which their file names contain. Workers may read only these files.
struct FontFinder: Sendable {
    /// Folders that are searched recursively for fonts.
    static let folders = ["/usr/share/fonts", "/usr/local/share/fonts"]
    /// The default font.
    static let fallback = "DejaVu Sans"

    /// Maximum number of entries of a folder with fonts.
    private static let entryLimit = 100_000

    private let pathsByName: [String: String]
    /// Full names that have been read, by path.
    private let fullNames = FullNames()

    private final class FullNames: Sendable {
        let byPath = Guarded<[ExactString: String]>([:])
    }

    /// Creates a finder for some font files; other files are ignored.
    init(paths: [String]) {
        var pathsByName: [String: String] = [:]
        for path in paths {
            guard let key = Self.key(of: path) else { continue }
            if pathsByName[key].map({ $0 > path }) ?? true { pathsByName[key] = path }
        }
        self.pathsByName = pathsByName
    }

    /// Returns the normalized name of a font file; nil for any other file.
    private static func key(of path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."),
            ["ttf", "otf", "ttc"].contains(name[name.index(after: dot)...].lowercased())
        else { return nil }
        return normalized(String(name[..<dot]))
    }

    /// Creates a finder for the fonts in the font folders of a disk.
    init(on disk: any DiskQueries) {
        var paths: [String] = []
        var open = Self.folders
        while let folder = open.popLast() {
            let entries = (try? disk.entries(of: folder, beneath: .anywhere, limit: Self.entryLimit)) ?? []
            for entry in entries {
                let path = folder + "/" + entry.name
                if Self.key(of: path) != nil {
                    paths.append(path)
                } else if path.utf8.count < 512, entry.type ?? disk.type(of: path) == .folder {
                    open.append(path)
                }
            }
        }
        self.init(paths: paths)
    }

    /// Normalizes a font name: lowercase letters and digits without a trailing `regular`, so that `DejaVu Sans Bold`
    /// matches `DejaVuSans-Bold.ttf`.
    private static func normalized(_ name: String) -> String {
        let letters = name.lowercased().filter { $0.isLetter || $0.isNumber }
        return letters.hasSuffix("regular") && letters.count > 7 ? String(letters.dropLast(7)) : letters
    }

    /// Returns the absolute path of a font's file; nil if no font has that name.
    func file(of name: String) -> String? { pathsByName[Self.normalized(name)] }

    /// Returns the name by which libass finds a font, which knows fonts by the names that they contain and not by those of
    /// their files; nil if no font has that name.
    func fullName(of name: String) -> String? {
        guard let path = file(of: name) else { return nil }
        if let known = fullNames.byPath.withLock({ $0[path.exact] }) { return known }
        let found = OpenTypeName.fullName(of: path) ?? name
        fullNames.byPath.withLock { $0[path.exact] = found }
        return found
    }

    /// Returns whether a path is inside the font folders. Checked for plans from untrusted input.
    static func holds(_ path: String) -> Bool {
        folders.contains { path.hasPrefix($0 + "/") } && !path.split(separator: "/").contains("..")
    }

    /// Returns a help text that lists installed fonts.
    var help: String {
        let names = pathsByName.values.map { path -> String in
            let file = path.split(separator: "/").last ?? ""
            return String(file.prefix { $0 != "." })
        }.sorted()
        return names.isEmpty
            ? "no fonts are installed (Debian: fonts-dejavu-core)"
            : "installed fonts: \(names.prefix(12).joined(separator: ", "))\(names.count > 12 ? " and \(names.count - 12) more" : "")"
    }
}
