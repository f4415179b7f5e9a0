/// Finds options inside an encoder's own list of settings (`x264-params: "dump-yuv=a.yuv:ref=4"`) that make it read or
/// write files: nothing but sources and outputs is ever opened for a job file.
enum FileOption {
    /// What the names of such options have in them, in x264, x265, SVT-AV1 and libaom.
    private static let parts = [
        "file", "path", "stats", "csv", "dump", "recon", "clbin", "analysis", "-rpu", "dhdr10", "table",
        "lambda",
    ]
    private static let names: Set<String> = [
        "scaling-list", "two-pass-output", "second-pass-log", "two-pass-log", "log", "input", "output",
        "errlog",
        "partition-info", "rate-distribution-info", "stat-report",
    ]
    /// What looks like one and isn't.
    private static let harmless: Set<String> = ["profile"]

    /// The first word that stands for one, or looks like a path. Encoders disagree about separators and escapes, so every
    /// word of the text is looked at, wherever it stands.
    static func first(in value: String) -> String? {
        let words = value.lowercased().split { ":=,;\\'\"".contains($0) || $0.isWhitespace }
        for word in words {
            let name = String(word.map { $0 == "_" ? "-" : $0 })
            if harmless.contains(name) { continue }
            if name.contains(where: { $0 == "/" }) || names.contains(name)
                || parts.contains(where: { name.firstRange(of: $0) != nil })
            {
                return String(word)
            }
        }
        return nil
    }
}
