internal import Diagnostics
internal import ExactStrings

/// The JUnit XML report: a test suite for each job file; a test case for each output and each expectation.
package enum JUnitRenderer {
    package static func render(_ report: RunReport) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        var files = report.files
        for job in report.jobs where !files.contains(job.file) { files.append(job.file) }
        let suites = files.map { file in
            (file, report.jobs.filter { $0.file.exact == file.exact }.flatMap(cases))
        }
        let all = suites.flatMap(\.1)
        text +=
            "<testsuites name=\"tandem\" tests=\"\(all.count)\" failures=\"\(all.count { $0.failure != nil })\" errors=\"0\" time=\"\(number(report.seconds))\">\n"
        for (file, cases) in suites {
            text +=
                "  <testsuite name=\"\(escaped(file))\" tests=\"\(cases.count)\" failures=\"\(cases.count { $0.failure != nil })\" errors=\"0\" skipped=\"\(cases.count { $0.skipped != nil })\" time=\"\(number(cases.reduce(0) { $0 + $1.seconds }))\">\n"
            for one in cases { text += one.text }
            text += "  </testsuite>\n"
        }
        return text + "</testsuites>\n"
    }

    private struct Case {
        var name: String
        var group: String
        var seconds: Double
        var failure: (type: String, message: String, location: String)?
        var skipped: String?
        /// Warnings about the output, written as `system-out`.
        var warnings: [String] = []

        var text: String {
            let head =
                "    <testcase name=\"\(escaped(name))\" classname=\"\(escaped(group))\" time=\"\(number(seconds))\""
            if let failure {
                return head
                    + ">\n      <failure type=\"\(escaped(failure.type))\" message=\"\(escaped(failure.message))\">\(escaped("\(failure.location): \(failure.message)"))</failure>\n    </testcase>\n"
            }
            if let skipped {
                return head + ">\n      <skipped message=\"\(escaped(skipped))\"/>\n    </testcase>\n"
            }
            if !warnings.isEmpty {
                let lines = warnings.map { "warning: \($0)" }.joined(separator: "\n")
                return head + ">\n      <system-out>\(escaped(lines))</system-out>\n    </testcase>\n"
            }
            return head + "/>\n"
        }
    }

    private static func cases(_ job: RunReport.Job) -> [Case] {
        var output = Case(name: job.id, group: job.file, seconds: job.seconds)
        switch job.outcome {
        case .failed where job.expectations.contains { !$0.holds }:
            // Each unmet expectation is a separate test case that fails.
            output.skipped =
                job.isCheck
                ? "an expectation of the source is not met" : "not published: an expectation is not met"
        case .failed:
            output.failure = (job.rule ?? "job-failed", job.reason ?? "", job.location ?? job.file)
        case .cancelled: output.failure = ("cancelled", "the job was cancelled", "\(job.file):\(job.line)")
        case .notRun: output.skipped = job.reason ?? "not run"
        case .skipped, .declined: output.skipped = job.reason
        case .succeeded, .upToDate: break
        }
        output.warnings = job.warnings
        return [output]
            + job.expectations.map { expectation in
                Case(
                    name: "\(job.id): \(expectation.expected)", group: job.file, seconds: 0,
                    failure: expectation.holds
                        ? nil
                        : (
                            "expectation-failed",
                            "expected \(expectation.expected), measured \(expectation.measured)",
                            expectation.location
                        ))
            }
    }

    private static func number(_ value: Double) -> String {
        let thousandths = Int((max(0, min(value, 1e9)) * 1000).rounded())
        let rest = "\(thousandths % 1000)"
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    private static func escaped(_ text: String) -> String { Markup.escaped(text) }
}

/// Escaping of text for XML and HTML.
enum Markup {
    /// Returns `text` with all markup characters escaped. Hidden characters, and characters that XML doesn't allow, are
    /// replaced by U+FFFD.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default:
                let isAllowed =
                    scalar.value >= 0x20 && scalar.value != 0xfffe && scalar.value != 0xffff
                    && !SafeText.isHidden(scalar)
                result.unicodeScalars.append(isAllowed ? scalar : "\u{fffd}")
            }
        }
        return result
    }
}
