internal import Diagnostics
internal import LibAV

/// Parser of options that contain a list of encoder parameters (`x264-params: "ref=4:psy-rd=1,0.15"`). Names and values
/// are passed to the encoder separately.
enum ParameterList {
    /// Returns the parameters; nil after an error is reported.
    static func read(
        _ option: EncoderOption, of model: EncoderModel, _ table: OptionTable, into sink: inout DiagnosticSink
    ) -> [MetadataEntry]? {
        let (name, text) = (option.name.value, option.value.value)
        let bytes = Array(text.utf8)
        var position = 0
        var entries: [MetadataEntry] = []
        func refuse(_ message: String, help: String? = nil) -> [MetadataEntry]? {
            sink.error(.encoderOption, message, at: option.value.range, help: help)
            return nil
        }
        guard bytes.count <= 4096, !bytes.contains(0) else {
            return refuse("`\(name)` is longer than 4096 bytes")
        }
        repeat {
            let (key, value): (String, String)
            do throws(FilterText.Problem) {
                let start = try FilterText.token(bytes, &position, until: Set("=:".utf8))
                guard !start.isEmpty, position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                    return refuse("`\(name)` must be a list of `name=value`, separated by `:`")
                }
                position += 1
                let rest = try FilterText.token(bytes, &position, until: Set(":".utf8))
                (key, value) = (String(decoding: start, as: UTF8.self), String(decoding: rest, as: UTF8.self))
            } catch {
                return refuse("`\(name)`: \(error.reason)")
            }
            // Encoders accept both `_` and `-`.
            let plain = String(key.lowercased().map { $0 == "_" ? "-" : $0 })
            if let owner = model.privateOptions.parameterKeys[plain] {
                sink.error(
                    .conflictingKeys,
                    owner.map {
                        "`\(key)` can't be set here; use the key `\($0)`"
                    } ?? "`\(key)` can't be set here: the job, its source and its container determine it",
                    at: option.value.range)
                return nil
            }
            guard let entry = table[plain] else {
                return refuse(
                    "`\(key)` in `\(name)` is not a setting of \(model.name) that is allowed in a job file",
                    help: Suggestion.help(for: plain, among: table.names))
            }
            if let problem = entry.grammar.problem(value) {
                return refuse("`\(key)` of `\(name)` can't be `\(value)`: \(problem)")
            }
            guard !entries.contains(where: { $0.key == plain }) else {
                return refuse("`\(key)` is set twice in `\(name)`")
            }
            entries.append(MetadataEntry(key: plain, value: value))
            guard position < bytes.count else { break }
            position += 1
        } while position < bytes.count
        return entries
    }
}
