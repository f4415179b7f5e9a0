import FileSystem
import LibAV
import Publishing
import TestSupport
import Testing

@testable import Engine

/// Libraries, encoders and folders in the report of `tandem doctor`.
@Suite struct MachineReportTests {
    private typealias Version = LibraryVersions.Version

    private func report(
        versions: [LibraryVersions.Pair] = LibraryVersions.pairs, state: String? = nil,
        isInBuild: (EncoderModel) -> Bool = { _ in true }
    ) -> MachineReport {
        MachineReport(state: state, in: "/tmp", versions: versions, isInBuild: isInBuild)
    }

    @Test func thisMachineIsSufficient() {
        let report = report()
        #expect(report.problems == [])
        #expect(report.libraries.map(\.name) == LibraryVersions.all.map(\.key))
        #expect(report.libraries.map(\.loaded) == LibraryVersions.all.map(\.value))
        #expect(report.folders.count == 3 && report.processors > 0 && report.memory > 0)
    }

    @Test func olderAndMissingLibrariesAreProblems() {
        let compiled = Version(60, 3, 100)
        func pair(_ loaded: Version?) -> LibraryVersions.Pair {
            LibraryVersions.Pair(name: "libavcodec", compiled: compiled, loaded: loaded)
        }
        for newer in [compiled, Version(60, 3, 0), Version(60, 4, 0)] {
            #expect(report(versions: [pair(newer)]).problems == [])
        }
        for other in [Version(59, 9, 100), Version(61, 0, 100), Version(60, 2, 100)] {
            #expect(
                report(versions: [pair(other)]).problems == [
                    "libavcodec \(other.text) is older than 60.3.100, or has another interface"
                ])
        }
        #expect(report(versions: [pair(nil)]).problems == ["libavcodec can't be loaded"])
    }

    @Test func encodersHaveAStateAndAPackage() throws {
        let versions = [
            LibraryVersions.Pair(name: "libavcodec", compiled: Version(59, 1, 0), loaded: Version(59, 1, 0))
        ]
        let report = report(versions: versions) { $0.name != "libx265" }
        func encoder(_ name: String) throws -> MachineReport.Encoder {
            try #require(report.encoders.first { $0.name == name })
        }
        #expect(try encoder("libx264").state == .available)
        #expect(try encoder("libx265").state == .missing)
        #expect(try encoder("libx265").package == "libavcodec59")
        #expect(try encoder("h264_vaapi").state == .hardware)
        #expect(try encoder("h264_vaapi").package == "va-driver-all")
        #expect(try encoder("libopenh264").package == nil)
        #expect(report.lines.contains("encoder    hevc: libx265, missing (Debian: libavcodec59)"))
        // Not every run requires each encoder.
        #expect(report.problems == [])
    }

    /// The temporary folder is that of workers and two-pass statistics: `TMPDIR`, unless it is empty.
    @Test func temporaryFolderIsThatOfRuns() {
        #expect(SystemFolders.temporary(variable: "/scratch") == "/scratch")
        #expect(SystemFolders.temporary(variable: "") == "/tmp")
        #expect(SystemFolders.temporary(variable: nil) == "/tmp")
        let report = MachineReport(state: nil, in: "/tmp", temporary: "/none/scratch")
        #expect(report.problems == ["the folder /none/scratch for temporary files doesn't exist"])
        #expect(report.lines.contains("folder     /none/scratch for temporary files  MISSING"))
    }

    @Test func foldersThatArentWritableAreProblems() throws {
        let report = report(state: "/none/state")
        #expect(report.problems == ["the folder /none/state for state isn't writable"])
        // The state is beside job files, which may be in another folder than the current one.
        let elsewhere = MachineReport(state: nil, in: "/none/folder")
        #expect(elsewhere.problems == [] && elsewhere.folders.count { !$0.isWritable } == 2)
        #expect(report.lines.contains { $0.hasSuffix("NOT WRITABLE") })
    }
}
