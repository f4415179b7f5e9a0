internal import Diagnostics
package import JobPlan
internal import LibAV
internal import Media
internal import FileSystem

/// The check that the sources of a job are unchanged since planning.
package struct SourceCheck {
    private let plan: JobPlan

    package init(_ plan: JobPlan) { self.plan = plan }

    /// Throws if a source is missing or changed. `when` completes the message "the source changed …".
    package func check(when: String) throws {
        for (sequence, identity) in plan.imageSequences {
            try check("an image of the source", sequence.path, sequence.filesIdentity, identity, when)
        }
        for (composition, identities) in plan.compositions {
            for (source, identity) in zip(composition.sources, identities) {
                try check("a source of the composition", source.name, source.identity, identity, when)
            }
        }
        for input in plan.inputs {
            guard case .file(let path, let identity) = input.source else { continue }
            // A remote source is checked by the worker that reads it: only the planned length is read.
            if SourceLocation.isRemote(path) { continue }
            guard let now = FileIdentity(path: path) else {
                throw JobFailure(
                    "the source no longer exists: \(path)", at: plan.location, rule: .sourceUnreadable)
            }
            guard now == identity else {
                throw JobFailure(
                    "the source changed \(when): \(path)", at: plan.location, rule: .sourceUnreadable)
            }
            if let package = input.package {
                try check("a file of the package", path, package.currentIdentity, package.identity, when)
            }
        }
    }

    private func check(_ what: String, _ name: String, _ now: String?, _ then: String, _ when: String) throws
    {
        guard now != then else { return }
        throw JobFailure(
            now == nil ? "\(what) no longer exists: \(name)" : "\(what) changed \(when): \(name)",
            at: plan.location,
            rule: .sourceUnreadable)
    }
}
