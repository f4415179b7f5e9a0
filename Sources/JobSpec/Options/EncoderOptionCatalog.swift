internal import LibAV

/// The private options of encoders that job files may set, and the parameters of options that are lists, as
/// the encoders' models define them.
enum EncoderOptionCatalog {
    /// Returns the options of an encoder by its FFmpeg name; empty if it has none.
    static func options(of encoder: String) -> OptionTable { encoders[encoder] ?? OptionTable([Substring]()) }

    /// Returns the parameters of an option that is a list (`x264-params`); nil for any other option.
    static func parameters(of option: String) -> OptionTable? { parameterLists[option] }

    /// Names of the encoders that have options, sorted.
    static var names: [String] { encoders.keys.sorted() }
    /// Names of the options that are lists, sorted.
    static var lists: [String] { parameterLists.keys.sorted() }

    private static let encoders: [String: OptionTable] = Dictionary(
        uniqueKeysWithValues: EncoderModel.table.filter { !$0.privateOptions.options.isEmpty }.map {
            ($0.name, OptionTable($0.privateOptions.options.split(separator: " ")))
        })

    private static let parameterLists: [String: OptionTable] = {
        var tables: [String: OptionTable] = [:]
        for (option, words) in EncoderModel.table.flatMap(\.privateOptions.parameterLists) {
            tables[option] = OptionTable(words.split(separator: " "))
        }
        return tables
    }()
}
