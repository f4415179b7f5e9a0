internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import FoundationEssentials
internal import Glibc
package import JobPlan
internal import LibAV

/// A plan that was saved by `tandem plan --out FILE` or printed by `tandem plan --format json`, for a comparison.
package struct EarlierPlan: Sendable {
    package let plan: BatchPlan
    /// Differences between the programs that created the plan and those of this process, a sentence each.
    package let remarks: [String]

    /// Maximum size of the file in bytes.
    private static let maxSize = 1 << 30

    /// The values that identify a plan in both formats.
    private struct Header: Decodable {
        struct Version: Decodable { var version: Int? }
        var kind: String?
        var version: Int?
        var program: String?
        var plan: Version
    }
    /// The part of the output of `tandem plan --format json` that is compared.
    private struct Report: Decodable { var plan: BatchPlan }

    /// Reads a plan.
    /// - Throws: An error if the file can't be read, isn't a plan, or was created by a version whose plans have another
    ///   format.
    package init(reading path: String) throws(EngineError) {
        let bytes: [UInt8]
        do throws(RegularFile.ReadingError) {
            bytes = try RegularFile.contents(limit: Self.maxSize) { open(path, $0) }
        } catch {
            throw EngineError(.invalidSpec, "the plan \(path) can't be read: \(Self.text(error))")
        }
        try self.init(Data(bytes), name: path)
    }

    /// Reads a plan from the contents of a file with a name for messages.
    init(_ data: Data, name: String) throws(EngineError) {
        let header = try? JSONFormat.value(Header.self, of: data)
        guard let header, header.kind == nil || header.kind == PlanFile.kind else {
            throw EngineError(
                .invalidSpec,
                "\(name) is not a plan; `tandem plan --out FILE` and `tandem plan --format json` write one")
        }
        let isCurrent = (header.version ?? 1) == 1 && (header.plan.version ?? 1) == 1
        guard isCurrent, let decoded = try? Self.decode(data, isFile: header.kind != nil) else {
            let creator = header.program.map { " of tandem \($0)" } ?? ""
            throw EngineError(
                .invalidSpec,
                "\(name) is a plan\(creator) in a format that this version can't read; create it with tandem \(ProgramVersion.current)"
            )
        }
        (plan, remarks) = decoded
    }

    /// Decodes a plan file or, unless `isFile`, the output of `tandem plan`.
    private static func decode(_ data: Data, isFile: Bool) throws -> (plan: BatchPlan, remarks: [String]) {
        guard isFile else {
            let plan = try JSONFormat.value(Report.self, of: data).plan
            guard plan.jobs.allSatisfy(\.isValid) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "a job's outputs refer to missing inputs"))
            }
            return (plan, [])
        }
        let file = try PlanFile.read(data)
        return (file.plan, file.programChange.map { ["the earlier plan: \($0)"] } ?? [])
    }

    private static func text(_ error: RegularFile.ReadingError) -> String {
        switch error {
        case .system(let code): String(cString: strerror(code))
        case .notRegular: "it is not a file; a plan in parts can't be compared"
        case .tooLarge: "it is larger than \(maxSize >> 20) MiB"
        }
    }
}
