internal import Diagnostics

/// The name of a job instance: the job's id, followed by the values that distinguish the instance, as in `web[1080,de]`.
package struct InstanceName: Hashable, Sendable, CustomStringConvertible {
    /// The job's id in the job file, which contains no `[`.
    package let base: String
    /// The distinguishing values with their brackets; empty for the only instance of a job.
    private let suffix: String

    /// Creates a name from the job's id and the distinguishing values.
    init(base: String, label: [String]) {
        self.base = base
        suffix = label.isEmpty ? "" : "[\(label.joined(separator: ","))]"
    }

    /// Parses a name.
    package init(_ text: String) {
        let base = text.prefix { $0 != "[" }
        self.base = String(base)
        suffix = String(text[base.endIndex...])
    }

    /// Returns a value with the characters that delimit values percent-encoded: `,`, `=`, `/`, `]`, characters that terminals hide, and
    /// `%` if it precedes two hexadecimal digits. Different values have different encodings.
    static func encoded(_ value: String) -> String {
        let scalars = Array(value.unicodeScalars)
        func isHex(_ index: Int) -> Bool {
            index < scalars.count && Character(scalars[index]).isHexDigit
        }
        return scalars.indices.map { index in
            let scalar = scalars[index]
            let isReserved =
                switch scalar {
                case ",", "=", "/", "]": true
                case "%": isHex(index + 1) && isHex(index + 2)
                default: SafeText.isHidden(scalar)
                }
            guard isReserved else { return String(scalar) }
            return UTF8.encode(scalar)?.map { byte in
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined() ?? ""
        }.joined()
    }

    /// Whether values distinguish the instance from others of its job.
    package var hasLabel: Bool { !suffix.isEmpty }
    package var description: String { base + suffix }
}

/// The name of a file of a job in messages, reports and the state: the name of the job instance, followed by `/` and the
/// output's id if it has one, and by `#` and a number from 2 for further files of the output, as in `web/hd#2`.
package struct OutputName: Hashable, Sendable, CustomStringConvertible {
    /// Name of the job instance.
    package let job: String
    /// The output's id; nil for the only output of a job.
    package let output: String?
    /// Index of the file in the output, from 0.
    package var part = 0

    package init(job: String, output: String?, part: Int = 0) {
        self.job = job
        self.output = output
        self.part = part
    }

    /// Parses a name. Distinguishing values of a job instance may contain a `/` or `#`, but end with `]`.
    package init(_ text: String) {
        var whole = text[...]
        if let mark = text.lastIndex(of: "#"), text[mark...].dropFirst().allSatisfy(\.isWholeNumber),
            let number = Int(text[mark...].dropFirst()), number > 0
        {
            (whole, part) = (text[..<mark], number - 1)
        }
        if whole.last != "]", let slash = whole.lastIndex(of: "/") {
            job = String(whole[..<slash])
            output = String(whole[whole.index(after: slash)...])
        } else {
            (job, output) = (String(whole), nil)
        }
    }

    /// The name of the output, which is that of its first file.
    package var whole: OutputName { OutputName(job: job, output: output) }

    package var description: String {
        (output.map { "\(job)/\($0)" } ?? job) + (part == 0 ? "" : "#\(part + 1)")
    }
}
