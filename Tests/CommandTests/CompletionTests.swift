import Foundation
import TestSupport
import Testing

/// Completions of a real bash, with the script that `scripts/install` installs.
@Suite struct CompletionTests {
    /// Returns the completions of a command line, whose last word is completed. `tandem` is the program under test.
    private func completions(_ words: String..., in scratch: Scratch) throws -> [String] {
        let script = scratch.file("completion.bash")
        if !FileManager.default.fileExists(atPath: script) {
            try tandem("--generate-completion-script", "bash", in: scratch).output
                .write(to: URL(fileURLWithPath: script))
        }
        // Programs that complete a word begin with the command, which is found on the PATH.
        let result = try program(
            "bash",
            [
                "--norc", "-c",
                """
                . "$1"; shift
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_TYPE=9
                COMP_POINT=${#COMP_LINE}
                function=$(complete -p tandem | sed 's/.*-F \\([^ ]*\\).*/\\1/')
                "$function" tandem "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """, "bash", script, "tandem",
            ] + words, directory: scratch.path,
            environment: [
                "PATH": (TestPaths.tandem as NSString).deletingLastPathComponent + ":/usr/bin:/bin",
                "SWIFT_BACKTRACE": "enable=no",
            ])
        #expect(result.errors == "", "\(result.errors)")
        return result.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func jobsOfTheFilesOnTheCommandLineAreCompleted() throws {
        let scratch = try Scratch()
        try write(job("web") + job("web-hd") + job("poster"), in: scratch)
        #expect(
            try completions("run", "jobs.yaml", "--only", "", in: scratch) == ["web", "web-hd", "poster"])
        #expect(try completions("plan", "jobs.yaml", "--only", "we", in: scratch) == ["web", "web-hd"])
        #expect(try completions("explain", "jobs.yaml", "p", in: scratch) == ["poster"])
        #expect(try completions("run", "missing.yaml", "--only", "", in: scratch).isEmpty)
    }

    @Test func presetsFilesAndOptionsAreCompleted() throws {
        let scratch = try Scratch()
        try scratch.write("", to: "medium.mp4")
        #expect(try completions("presets", "medi", in: scratch) == ["medium", "medium.mp4"])
        #expect(try completions("presets", "./me", in: scratch) == ["./medium.mp4"])
        #expect(try completions("plan", "--against", "", in: scratch).allSatisfy { !$0.hasSuffix(".mp4") })
        #expect(try completions("plan", "--format", "m", in: scratch) == ["markdown"])
        #expect(try completions("vali", in: scratch) == ["validate"])
    }

    /// Names in a job file, and files that can't be read, run no command.
    @Test func hostileFilesRunNothing() throws {
        let scratch = try Scratch()
        try scratch.write(
            "version: 1\njobs:\n  \"$(touch x)\": {}\n  \"`touch y`\": {}\n  good: {}\n  \"a b;c\": {}\n",
            to: "jobs.yaml")
        #expect(try completions("run", "jobs.yaml", "--only", "", in: scratch) == ["good"])
        try scratch.write(
            "a: &a [x, x, x, x, x, x, x, x, x]\n" + String(repeating: "[", count: 200_000), to: "b.yaml")
        #expect(try completions("run", "b.yaml", "--only", "", in: scratch).isEmpty)
        try scratch.write(
            String(repeating: "# comment\n", count: 200_000) + "jobs: { a: {} }\n", to: "c.yaml")
        #expect(try completions("run", "c.yaml", "--only", "", in: scratch).isEmpty)
        try program("mkfifo", [scratch.file("d.yaml")])
        #expect(try completions("run", "d.yaml", "/dev/zero.yaml", "--only", "", in: scratch).isEmpty)
        #expect(Set(scratch.contents) == ["jobs.yaml", "b.yaml", "c.yaml", "d.yaml", "completion.bash"])
    }
}
