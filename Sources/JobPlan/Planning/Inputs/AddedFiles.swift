internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import Media
internal import Publishing

/// The files that an output reads in addition to its source.
struct AddedFiles {
    /// The cover from an image file; nil for none.
    var cover: CoverPlan?
    /// Returns the state of a subtitle file. It is read only for rules that apply.
    var subtitles: (_ file: SubtitleFileSpec, _ isOptional: Bool) -> Decision<SubtitleFileState> = { _, _ in
        Decision(nil)
    }
    /// Returns the machine's fonts, for text that is drawn.
    var fonts: () -> FontFinder = { FontFinder(paths: []) }
}

/// A subtitle file that can be read.
struct SubtitleFile {
    let plan: SubtitleFilePlan
    /// The file as an input, whose tracks rules select.
    let input: ResolvedInput
}

/// The state of a subtitle file.
enum SubtitleFileState {
    case found(SubtitleFile)
    /// The file doesn't exist, and the rule that names it is optional.
    case missing(path: String)
}

extension SourceCatalog {
    /// Returns the state of a subtitle file of a job file.
    func subtitles(
        _ spec: SubtitleFileSpec, of file: JobFile, isOptional: Bool
    ) -> Decision<SubtitleFileState> {
        let (path, location) = (file.absolutePath(spec.path), spec.path.range)
        var reasons = Reasons()
        do throws(SourceProblem) {
            let contents = try contents(of: path, limit: SubtitleFilePlan.maxBytes)
            var description = try description(of: path)
            guard let identity = disk.identity(of: path) else { throw SourceProblem("the file disappeared") }
            if let language = spec.language { description.setLanguage(language) }
            let plan = SubtitleFilePlan(path: path, contents: contents, location: location)
            return Decision(
                .found(
                    SubtitleFile(
                        plan: plan, input: ResolvedInput(.file(path: path, identity: identity), description)))
            )
        } catch  where error.isMissing && isOptional {
            return Decision(.missing(path: path))
        } catch {
            reasons.error(
                .sourceUnreadable, "\(path.pathParts.last ?? path): \(error)", at: location,
                notes: [Diagnostic.Note("the path is \(path)")],
                help: !error.isMissing
                    ? nil
                    : path.contains("*")
                        ? "patterns aren't expanded here; `${asset.stem}` stands for the name of the source"
                        : "with `optional: true` the job runs without it")
            return Decision(nil, reasons)
        }
    }
}
