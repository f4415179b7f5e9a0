import CFFmpeg
import Testing

@testable import LibAV

/// Tests the version of libavfilter, which is known before the library is loaded, and lookups of filters.
@Suite struct FilterLibraryTests {
    @Test func versionFromTheFileNameMatchesTheLoadedLibrary() throws {
        let number = try FilterLibrary.load().c.avfilter_version()
        let version = "\(number >> 16).\(number >> 8 & 0xff).\(number & 0xff)"
        #expect(FilterLibrary.version == version)
        #expect(number >> 16 == UInt32(tandem_filter_major()))
        #expect(LibraryVersions.all.contains(MetadataEntry(key: "libavfilter", value: version)))
    }

    @Test func missingFiltersAreDetected() {
        #expect(FilterInfo.exists("scale"))
        #expect(!FilterInfo.exists("no such filter"))
    }
}
