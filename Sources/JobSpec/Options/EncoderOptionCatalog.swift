internal import LibAV

/// The private options of encoders that job files may set, and the parameters of those that are lists of their own, as the
/// encoders' models state them.
enum EncoderOptionCatalog {
    /// The options of an encoder by its libav name; empty where it has none.
    static func options(of encoder: String) -> OptionTable { encoders[encoder] ?? OptionTable([Substring]()) }

    /// The parameters of an option that is a list (`x264-params`); nil for any other option.
    static func parameters(of option: String) -> OptionTable? { parameterLists[option] }

    /// The encoders that have options, sorted.
    static var names: [String] { encoders.keys.sorted() }
    /// The options that are lists, sorted.
    static var lists: [String] { parameterLists.keys.sorted() }

    private static let encoders: [String: OptionTable] = Dictionary(
        uniqueKeysWithValues: EncoderModel.table.filter { !$0.options.isEmpty }.map {
            ($0.name, OptionTable($0.options.split(separator: " ")))
        })

    private static let parameterLists: [String: OptionTable] = {
        var tables: [String: OptionTable] = [:]
        for (option, words) in EncoderModel.table.flatMap(\.parameterLists) {
            tables[option] = OptionTable(words.split(separator: " "))
        }
        return tables
    }()
}
