internal import Diagnostics
internal import LibAV

/// Validation of named choices, such as presets, and of encoder options.
enum EncoderOptionCheck {
    static func checkChoice(
        _ value: Located<String>?, _ key: String, of allowed: [String]?, codec: CodecSelection,
        into sink: inout DiagnosticSink
    ) {
        guard let value else { return }
        guard let allowed else {
            sink.error(.codecSetting, "`\(key)` is not supported by \(codec.label)", at: value.range)
            return
        }
        // A level such as `4` may also be written `4.0`.
        let text =
            key == "level" && value.value.hasSuffix(".0") ? String(value.value.dropLast(2)) : value.value
        guard !allowed.contains(text) else { return }
        sink.error(
            .codecSetting, "\(codec.label) has no \(key) `\(value.value)`", at: value.range,
            help: (key == "level" || Int(value.value) != nil
                ? nil : Suggestion.help(for: value.value, among: allowed))
                ?? "expected one of \(allowed.joined(separator: ", "))")
    }

    /// Options that correspond to keys of the job language.
    static let optionsWithKeys: Set<String> = [
        "crf", "qp", "preset", "profile", "level", "b", "g", "s", "r", "pix_fmt", "tune", "bf", "pass",
        "passlogfile", "stats",
    ]

    /// Validates options against the encoder's table, and parses parameter lists such as `x264-params`. The table lacks
    /// options that open files; `excluded` contains those that have a key in the job language.
    static func checkOptions(
        _ options: inout [EncoderOption], of encoder: EncoderInfo, _ model: EncoderModel,
        excluding excluded: @autoclosure () -> Set<String>, into sink: inout DiagnosticSink
    ) {
        if options.isEmpty { return }
        let excluded = excluded()
        let table = EncoderOptionCatalog.options(of: encoder.name)
        let keys = model.keysOfOptions
        for index in options.indices {
            let (name, value) = (options[index].name, options[index].value)
            if excluded.contains(name.value) {
                sink.error(
                    .conflictingKeys, "`\(name.value)` can't be set in `options`: it has its own key",
                    at: name.range,
                    help: keys[name.value].flatMap { $0 == name.value ? nil : "use the key `\($0)`" })
                continue
            }
            if let other = model.privateOptions.optionAliases[name.value] {
                sink.error(
                    .encoderOption, "`\(name.value)` is an alias of `\(other)`", at: name.range,
                    help: "write `\(other)`")
                continue
            }
            guard let entry = table[name.value], let declaration = encoder.option(name.value) else {
                let exists = encoder.option(name.value) != nil
                sink.error(
                    .encoderOption,
                    exists
                        ? "the option `\(name.value)` of \(encoder.name) can't be set in a job file"
                        : "\(encoder.name) has no option `\(name.value)`", at: name.range,
                    help: ForeignWords.help(option: name.value)
                        ?? Suggestion.help(for: name.value, among: table.names))
                continue
            }
            if let parameters = EncoderOptionCatalog.parameters(of: name.value) {
                options[index].parameters = ParameterList.read(
                    options[index], of: model, parameters, into: &sink)
            } else if let problem = entry.grammar.problem(value.value, declaration: declaration) {
                sink.error(
                    .encoderOption,
                    "`\(name.value)` of \(encoder.name) can't be `\(value.value)`: \(problem)",
                    at: value.range)
            }
        }
    }
}
