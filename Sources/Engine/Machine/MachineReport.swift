internal import ExactStrings
internal import FileSystem
internal import JobRun
internal import JobSpec
internal import LibAV
internal import Publishing

/// The libraries, the encoders and the space of a machine.
struct MachineReport: Encodable, Sendable {
    /// A library of FFmpeg.
    struct Library: Encodable, Sendable {
        let name: String
        /// Version of the headers that the program was compiled with.
        let compiled: String
        /// Version that is loaded; nil if the library can't be loaded.
        let loaded: String?
        /// Whether the loaded version has the interface of the headers.
        let isCompatible: Bool
    }
    /// An encoder that job files may name.
    struct Encoder: Encodable, Sendable {
        enum State: String, Encodable, Sendable {
            case available
            /// FFmpeg contains it; whether the device works is determined when a job uses it.
            case hardware
            case missing
        }
        let name: String
        let codec: String
        let state: State
        /// Debian's package that contains the encoder, or the driver of its device; nil if Debian has none.
        let package: String?
    }
    /// A folder to which runs write.
    struct Folder: Encodable, Sendable {
        let purpose: String
        let path: String
        let freeBytes: Int64?
        /// Whether the folder doesn't exist, and isn't created by runs.
        let isMissing: Bool
        let isWritable: Bool
        /// Whether runs fail if the folder isn't writable. Job files, with their state, may be in another folder than the
        /// current one.
        let isRequired: Bool
    }

    let processors: Int
    /// Memory for workers in bytes.
    let memory: Int64
    let libraries: [Library]
    let encoders: [Encoder]
    let folders: [Folder]
    /// Deficiencies that affect every run, a phrase each.
    let problems: [String]

    /// Describes this machine. `state` is the folder of the state if one is given, `folder` that of job files, `temporary` that of
    /// temporary files.
    init(
        state: String?, in folder: String, temporary: String = SystemFolders.temporary,
        versions: [LibraryVersions.Pair] = LibraryVersions.pairs,
        disk: any DiskQueries = SystemDisk(),
        isInBuild: (EncoderModel) -> Bool = { EncoderInfo(named: $0.name) != nil }
    ) {
        let budget = ResourceBudget.ofThisMachine()
        (processors, memory) = (budget.cores, budget.memory)
        libraries = versions.map {
            Library(
                name: $0.name, compiled: $0.compiled.text, loaded: $0.loaded?.text,
                isCompatible: $0.isCompatible)
        }
        let major = versions.first { $0.name == "libavcodec" }?.loaded?.major
        encoders = (CodecCatalog.video + CodecCatalog.audio).flatMap { selection in
            selection.codec.encoders.map { model in
                let state: Encoder.State =
                    !isInBuild(model) ? .missing : model.requirement == nil ? .available : .hardware
                return Encoder(
                    name: model.name, codec: selection.name, state: state,
                    package: model.debianPackage.name(libavcodec: major))
            }
        }
        func describe(_ path: String, for purpose: String, isRequired: Bool, isCreated: Bool = false)
            -> Folder
        {
            let exists = disk.identity(of: path) != nil
            let existing = exists || !isCreated ? path : path.parentFolder
            return Folder(
                purpose: purpose, path: path, freeBytes: disk.freeSpace(in: existing),
                isMissing: !exists && !isCreated, isWritable: disk.isWritable(existing),
                isRequired: isRequired)
        }
        folders = [
            describe(folder, for: "job files", isRequired: false),
            // The first run creates it.
            describe(state ?? folder + "/.tandem", for: "state", isRequired: state != nil, isCreated: true),
            describe(temporary, for: "temporary files", isRequired: true),
        ]
        problems =
            libraries.filter { !$0.isCompatible }.map { library in
                library.loaded.map {
                    "\(library.name) \($0) is older than \(library.compiled), or has another interface"
                }
                    ?? "\(library.name) can't be loaded"
            }
            + folders.filter { $0.isRequired && !$0.isWritable }.map {
                "the folder \($0.path) for \($0.purpose) \($0.isMissing ? "doesn't exist" : "isn't writable")"
            }
    }

    /// Text output of the report.
    var lines: [String] {
        var lines = ["processors \(processors), \(memory >> 20) MiB of memory for workers"]
        for library in libraries {
            let version = library.loaded.map { "\($0), compiled with \(library.compiled)" } ?? "missing"
            lines.append(
                "library    \(library.name) \(version)\(library.isCompatible ? "" : "  INCOMPATIBLE")")
        }
        for encoder in encoders {
            let package = encoder.package.map { " (Debian: \($0))" } ?? ""
            let state =
                switch encoder.state {
                case .available: "available"
                case .hardware: "requires a device" + package
                case .missing:
                    "missing" + (encoder.package == nil ? " (not part of Debian's FFmpeg)" : package)
                }
            lines.append("encoder    \(encoder.codec): \(encoder.name), \(state)")
        }
        for folder in folders {
            let free =
                folder.isMissing
                ? "" : ", " + (folder.freeBytes.map { "\($0 >> 20) MiB free" } ?? "free space unknown")
            let problem = folder.isMissing ? "  MISSING" : folder.isWritable ? "" : "  NOT WRITABLE"
            lines.append("folder     \(folder.path) for \(folder.purpose)\(free)\(problem)")
        }
        return lines + problems.map { "problem    \($0)" }
    }
}
