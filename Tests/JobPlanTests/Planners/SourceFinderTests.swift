import ExactStrings
import Glibc
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Numbered images, on a file system of values.
@Suite struct SourceFinderTests {
    private func sequence(_ path: String, on disk: FakeDisk) throws -> ImageSequence {
        var finder = SourceFinder(on: disk)
        return try finder.sequence(path, frameRate: Rational(25, 1))
    }

    private func problem(_ path: String, on disk: FakeDisk) -> String? {
        do {
            _ = try sequence(path, on: disk)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Other names of the folder don't matter.
    @Test func numberedImagesAreFound() throws {
        let disk = FakeDisk("/f/a-007.png", "/f/a-008.png", "/f/a-009.png", "/f/a-9.png", "/f/b-010.png")
        let found = try sequence("/f/a-%03d.png", on: disk)
        #expect(found.numbers == ImageSequence.Numbers(first: 7, count: 3))
        #expect(Array(found.files) == ["/f/a-007.png", "/f/a-008.png", "/f/a-009.png"])
    }

    @Test func missingNumbersAndFilesAreErrors() {
        let disk = FakeDisk("/f/a1.png", "/f/a2.png", "/f/a5.png")
        #expect(
            problem("/f/a%d.png", on: disk)
                == "the numbers range from 1 to 5, but 3 to 4 are missing: /f/a3.png")
        #expect(
            problem("/f/b%d.png", on: disk) == "no file matches; the first must be /f/b0.png or /f/b1.png")
    }

    @Test func foldersThatCannotBeReadAreErrors() {
        var disk = FakeDisk("/f/a1.png")
        disk.unreadable = ["/f": EACCES]
        #expect(problem("/f/a%d.png", on: disk)?.hasPrefix("the folder /f/: ") == true)
        disk = FakeDisk("/f/a1.png")
        disk.crowded = ["/f": 10_000_001]
        #expect(
            problem("/f/a%d.png", on: disk) == "the folder /f/ has more than 10000000 entries")
    }
}
