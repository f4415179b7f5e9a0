// swift-tools-version: 6.2
import PackageDescription

/// The settings of all Swift targets. The Swift 6 language mode follows from the tools version.
let house: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

// Targets depend only on targets of lower layers: `scripts/check-layers` reads the layers from the comments below, and
// `swift build --explicit-target-dependency-import-check error` refuses imports of undeclared dependencies.
let package = Package(
    name: "tandem",
    products: [
        .executable(name: "tandem", targets: ["tandem"]),
        .library(name: "TandemKit", targets: ["TandemKit"]),
        .library(name: "TandemBatch", targets: ["TandemBatch"]),
    ],
    traits: [
        .default(enabledTraits: ["FastChecksums", "ClosedProc"]),
        .trait(
            name: "FastChecksums",
            description: "Compute the checksums of Matroska by libdeflate, in place of libavutil's `av_crc`"),
        .trait(
            name: "ClosedProc",
            description:
                "Close /proc to workers except for their own files, by replacing `open` of the C library"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // Layer 0: system libraries, and the C calls that Swift lacks
        .systemLibrary(
            name: "CFFmpeg", pkgConfig: "libavformat",
            providers: [
                .apt([
                    "libavformat-dev", "libavcodec-dev", "libavutil-dev", "libswresample-dev",
                    "libavfilter-dev", "libswscale-dev",
                ])
            ]),
        .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CLinux"),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .target(name: "CSandbox", dependencies: ["CSeccomp"]),
        // Linked into the program only: each replaces a function of a library. ARCHITECTURE.md explains why.
        .target(name: "CThreadStatus"),
        .target(
            name: "CFastChecksum", linkerSettings: [.linkedLibrary("deflate"), .linkedLibrary("avutil")]),
        // Layer 1: foundations without media
        .target(name: "Errors", swiftSettings: house),
        .target(name: "Locking", swiftSettings: house),
        .target(name: "BinaryCoding", swiftSettings: house),
        .target(name: "ExactStrings", swiftSettings: house),
        .target(name: "Diagnostics", dependencies: ["ExactStrings", "Locking"], swiftSettings: house),
        .target(
            name: "FileSystem",
            dependencies: [
                "CLinux", "Errors", "ExactStrings",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: house),
        // Layer 2: FFmpeg, YAML, and files that are complete or absent
        .target(
            name: "LibAV",
            dependencies: ["CFFmpeg", "CLinux", "Errors", "ExactStrings", "FileSystem", "Locking"],
            swiftSettings: house),
        .target(
            name: "Publishing",
            dependencies: [
                "CLinux", "Errors", "ExactStrings", "FileSystem", "Locking",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: house),
        .target(name: "YAMLDocument", dependencies: ["CLibYAML", "Diagnostics"], swiftSettings: house),
        // Layer 3: the media library
        .target(
            name: "Media",
            dependencies: [
                "LibAV", "CLinux", "Errors", "ExactStrings", "FileSystem", "Locking", "Publishing",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        // Layer 4: the manifests of streaming packages
        .target(name: "Streaming", dependencies: ["Media", "LibAV", "ExactStrings"], swiftSettings: house),
        // Layer 5: the job language
        .target(
            name: "JobSpec",
            dependencies: [
                "YAMLDocument", "Diagnostics", "ExactStrings", "FileSystem", "Locking", "LibAV", "Media",
                "Streaming",
            ],
            swiftSettings: house),
        // Layer 6: plans
        .target(
            name: "JobPlan",
            dependencies: [
                "BinaryCoding", "JobSpec", "CLinux", "Diagnostics", "ExactStrings", "FileSystem", "Locking",
                "Media", "LibAV", "Publishing", "Streaming",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        // Layer 7: what job files and single exports share: the stages up to a plan that can be run, and the work of one plan
        .target(
            name: "JobStages", dependencies: ["JobPlan", "JobSpec", "Diagnostics", "ExactStrings"],
            swiftSettings: house),
        .target(
            name: "PlanWork",
            dependencies: [
                "JobPlan", "JobSpec", "Diagnostics", "Errors", "ExactStrings", "FileSystem", "Streaming",
                "Media",
                "LibAV", "Locking", "Publishing", "CLinux",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: house),
        // Layer 8: execution of batches
        .target(
            name: "JobRun",
            dependencies: [
                "PlanWork", "BinaryCoding", "JobPlan", "JobSpec", "Diagnostics", "Errors", "ExactStrings",
                "FileSystem", "Streaming", "Media", "LibAV", "Locking", "Publishing", "CLinux", "CSandbox",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: house),
        // Layer 9: the commands, for the program and the library of job files
        .target(
            name: "Engine",
            dependencies: [
                "JobStages", "JobRun", "JobPlan", "JobSpec", "YAMLDocument", "Media", "LibAV", "Publishing",
                "FileSystem", "Diagnostics", "ExactStrings", "Locking", "CLinux", "Streaming",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: house),
        // Layer 10: the libraries, and the command line
        .target(
            name: "TandemKit",
            dependencies: [
                "JobStages", "PlanWork", "JobPlan", "JobSpec", "Media", "LibAV", "Publishing", "FileSystem",
                "Diagnostics", "Errors", "ExactStrings", "Locking",
            ],
            swiftSettings: house),
        .target(
            name: "TandemBatch",
            dependencies: [
                "TandemKit", "Engine", "JobStages", "PlanWork", "JobRun", "JobPlan", "JobSpec", "Media",
                "LibAV", "Diagnostics",
            ],
            swiftSettings: house),
        .executableTarget(
            name: "tandem",
            dependencies: [
                "Engine", "CLinux",
                .target(name: "CThreadStatus", condition: .when(traits: ["ClosedProc"])),
                .target(name: "CFastChecksum", condition: .when(traits: ["FastChecksums"])),
                "ExactStrings", "Locking", "JobRun", "JobPlan", "JobSpec", "YAMLDocument", "Media", "LibAV",
                "Publishing", "FileSystem", "Diagnostics", "Streaming",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house),
        // Layer 11: tests
        .target(
            name: "TestSupport",
            dependencies: [
                "JobRun", "JobPlan", "JobSpec", "YAMLDocument", "Media", "LibAV", "Publishing", "FileSystem",
                "Diagnostics", "Locking",
            ],
            // Optimized, since it compares audio sample by sample, which takes minutes in a debug build.
            path: "Tests/TestSupport", swiftSettings: house + [.unsafeFlags(["-O"])]),
        // The entry points of the fuzzer, which tests call too.
        .target(
            name: "PlanFuzzing",
            dependencies: ["JobPlan", "JobSpec", "YAMLDocument", "Media", "LibAV", "Diagnostics"],
            path: "Fuzz/entry", swiftSettings: house),
        .testTarget(
            name: "YAMLDocumentTests", dependencies: ["YAMLDocument", "Diagnostics", "TestSupport"],
            swiftSettings: house),
        .testTarget(
            name: "JobSpecTests",
            dependencies: [
                "JobSpec", "YAMLDocument", "Diagnostics", "ExactStrings", "Media", "LibAV", "TestSupport",
            ],
            exclude: ["ok", "err"], swiftSettings: house),
        .testTarget(
            name: "JobPlanTests",
            dependencies: [
                "BinaryCoding", "JobRun", "PlanWork", "JobPlan", "JobSpec", "YAMLDocument", "Diagnostics",
                "Media", "LibAV",
                "ExactStrings", "Locking", "FileSystem", "Publishing", "Streaming", "PlanFuzzing",
                "TestSupport",
            ],
            exclude: ["annotation-names.txt", "digest-names.txt"],
            swiftSettings: house),
        .testTarget(
            name: "JobRunTests",
            dependencies: [
                "JobRun", "PlanWork", "JobPlan", "JobSpec", "Diagnostics", "FileSystem", "Locking", "Media",
                "LibAV", "TestSupport",
            ],
            swiftSettings: house),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Engine", "JobStages", "JobRun", "PlanWork", "JobPlan", "JobSpec", "Diagnostics",
                "ExactStrings",
                "Media", "LibAV", "Publishing", "FileSystem", "Locking", "TestSupport",
            ],
            swiftSettings: house),
        .testTarget(name: "BinaryCodingTests", dependencies: ["BinaryCoding"], swiftSettings: house),
        .testTarget(
            name: "MediaTests",
            dependencies: ["Media", "LibAV", "Publishing", "FileSystem", "CFFmpeg", "TestSupport"],
            swiftSettings: house),
        .testTarget(
            name: "StreamingTests",
            dependencies: ["Streaming", "Media", "LibAV", "BinaryCoding", "TestSupport"],
            exclude: ["golden", "judge.py", "browser.py", "packager.py", "players.py"], swiftSettings: house),
        // The programs of the articles and the library's tests have only public access, as other packages do.
        .target(
            name: "Articles", dependencies: ["TandemKit", "TandemBatch"], path: "Tests/Articles",
            packageAccess: false,
            swiftSettings: house),
        // The example is a package of its own; here it is built for the tests.
        .executableTarget(
            name: "trim", dependencies: ["TandemKit"], path: "Examples/Trimmer/Sources/trim",
            packageAccess: false, swiftSettings: house),
        .testTarget(
            name: "LibraryTests",
            dependencies: ["Articles", "TandemKit", "TandemBatch", "TestSupport", "trim"],
            packageAccess: false, swiftSettings: house),
        .testTarget(
            name: "FidelityTests",
            dependencies: [
                "Diagnostics", "JobRun", "JobPlan", "Media", "LibAV", "Publishing", "CFFmpeg", "TestSupport",
            ],
            exclude: ["figures.py"],
            swiftSettings: house),
        .testTarget(
            name: "AttackTests",
            dependencies: [
                "tandem", "JobRun", "PlanWork", "JobPlan", "JobSpec", "BinaryCoding", "Media", "LibAV",
                "CFFmpeg",
                "Diagnostics", "FileSystem", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "tandem", "JobPlan", "JobRun", "PlanWork", "LibAV", "Media", "Publishing", "FileSystem",
                "TestSupport",
            ],
            exclude: ["junit.xsd"],
            swiftSettings: house),
    ]
)

// With `TANDEM_TARGETS`, as in sanitizer builds, the package contains only the named targets and their dependencies.
if let wanted = Context.environment["TANDEM_TARGETS"]?.split(separator: " ").map(String.init) {
    let dependencies = Dictionary(
        uniqueKeysWithValues: package.targets.map { target in
            (
                target.name,
                target.dependencies.compactMap { dependency -> String? in
                    switch dependency {
                    case .byNameItem(let name, _), .targetItem(let name, _): name
                    default: nil
                    }
                }
            )
        })
    var needed: Set<String> = []
    var open = wanted
    while let name = open.popLast() {
        if needed.insert(name).inserted { open += dependencies[name] ?? [] }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}

// Only `scripts/fuzz` builds the fuzzer, which requires the libFuzzer runtime.
if Context.environment["TANDEM_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
        .executableTarget(
            name: "fuzz-plan", dependencies: ["CFuzzer", "PlanFuzzing"], path: "Fuzz/plan",
            swiftSettings: house),
    ]
}
