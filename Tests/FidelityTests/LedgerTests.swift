import Foundation
import TestSupport
import Testing

/// The ledger is complete: it contains everything that ffprobe and mediainfo report about real files.
@Suite struct LedgerTests {
    private struct Account {
        var entries: [(track: Int?, item: String, outcome: String, reason: String)] = []

        func items(_ track: Int?) -> [String] { entries.filter { $0.track == track }.map(\.item) }
        /// Whether the whole track is dropped or rewritten, so that its items aren't listed.
        func isDropped(_ track: Int) -> Bool {
            entries.contains {
                $0.track == track && !$0.item.hasPrefix("tag ")
                    && ($0.outcome == "dropped"
                        && ($0.reason.contains("no rule selects") || $0.reason.contains("format is unknown")
                            || $0.reason.contains("no event")
                            || $0.item.hasPrefix("cover"))
                        || $0.reason == "rewritten")
            }
        }
        func count(_ kind: String) -> Int { entries.filter { $0.item.hasPrefix(kind + " ") }.count }
    }

    private func plan(_ source: String, container: String, in scratch: Scratch) throws -> (Account?, String) {
        try scratch.write(
            """
            version: 1
            jobs:
              j:
                asset: "\(source)"
                tracks:
                  - { video: all, optional: true, encode: { codec: h264, preset: ultrafast, pixel_format: yuv420p } }
                  - { audio: all, optional: true, encode: { codec: aac } }
                  - { subtitle: all, optional: true, copy: true }
                container: \(container)
                destination: out.bin
            """, to: "j.yaml")
        let result = try program(
            TestPaths.tandem, ["plan", "--format", "json", "j.yaml"], directory: scratch.path)
        guard let json = try JSONSerialization.jsonObject(with: result.output) as? [String: Any],
            let jobs = (json["plan"] as? [String: Any])?["jobs"] as? [[String: Any]]
        else { throw ProgramError(message: "no plan of \(source): \(result.errors)") }
        guard let output = (jobs.first?["outputs"] as? [[String: Any]])?.first else {
            let why = (json["diagnostics"] as? [[String: Any]])?.first?["message"] as? String
            return (nil, why ?? "?")
        }
        var account = Account()
        for entry in output["ledger"] as? [[String: Any]] ?? [] {
            account.entries.append(
                (
                    entry["track"] as? Int, entry["item"] as? String ?? "", entry["outcome"] as? String ?? "",
                    entry["reason"] as? String ?? ""
                ))
        }
        return (account, "")
    }

    /// Returns the items that ffprobe reports and the ledger lacks.
    private func missing(_ account: Account, of path: String) throws -> [String] {
        let json = try FFmpegFile(path).probe(["-show_format", "-show_streams", "-show_chapters"])
        var missing: [String] = []
        for stream in json["streams"] as? [[String: Any]] ?? [] {
            let index = stream["index"] as? Int ?? -1
            let items = account.items(index)
            if items.isEmpty { missing.append("stream \(index)") }
            if account.isDropped(index) { continue }
            for (key, _) in stream["tags"] as? [String: String] ?? [:]
            where key.lowercased() != "timecode" && !items.contains("tag \(key)") {
                // Tags of Ogg are listed for the file.
                if !account.items(nil).contains("tag \(key)") { missing.append("\(index): tag \(key)") }
            }
            for datum in stream["side_data_list"] as? [[String: Any]] ?? [] {
                let name = datum["side_data_type"] as? String ?? ""
                let known = [
                    "Display Matrix": "display matrix", "DOVI configuration record": "side data dovi",
                    "Mastering display metadata": "side data mastering",
                    "Content light level metadata": "side data cll",
                ]
                if !items.contains(known[name] ?? "side data \(name)") { missing.append("\(index): \(name)") }
            }
        }
        let tags = (json["format"] as? [String: Any])?["tags"] as? [String: String] ?? [:]
        for (key, _) in tags
        where key.lowercased() != "timecode" && !account.items(nil).contains("tag \(key)") {
            missing.append("tag \(key)")
        }
        if let chapters = json["chapters"] as? [Any], !chapters.isEmpty,
            !account.items(nil).contains(where: { $0.contains(" chapter") })
        {
            missing.append("chapters")
        }
        return missing + (try missingOfMediainfo(account, path))
    }

    /// Returns the kinds of items of which mediainfo reports more than the ledger contains.
    private func missingOfMediainfo(_ account: Account, _ path: String) throws -> [String] {
        let result = try program("mediainfo", ["--Output=JSON", path])
        guard let json = try JSONSerialization.jsonObject(with: result.output) as? [String: Any],
            let tracks = (json["media"] as? [String: Any])?["track"] as? [[String: Any]]
        else { return [] }
        func count(_ type: String) -> Int { tracks.filter { $0["@type"] as? String == type }.count }
        var missing: [String] = []
        for (type, kinds) in [
            ("Video", ["video", "cover", "data"]), ("Audio", ["audio"]), ("Text", ["subtitle", "data"]),
        ] where count(type) > kinds.reduce(0, { $0 + account.count($1) }) {
            missing.append("mediainfo: \(count(type)) \(type)")
        }
        if count("Menu") > 0, !account.items(nil).contains(where: { $0.contains(" chapter") }) {
            missing.append("mediainfo: Menu")
        }
        let general = tracks.first { $0["@type"] as? String == "General" }
        if general?["Cover"] as? String == "Yes", account.count("cover") == 0 {
            missing.append("mediainfo: cover")
        }
        return missing
    }

    @Test(.enabled(if: TestPaths.media != nil)) func everythingInRealFilesIsInTheLedger() throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        var rows: [String] = []
        for name in TestPaths.mediaFiles where ![".png", ".m3u8"].contains(where: name.hasSuffix) {
            let path = media + "/" + name
            var (account, why) = try plan(path, container: "mov", in: scratch)
            if account == nil { (account, why) = try plan(path, container: "mkv", in: scratch) }
            guard let account else {
                rows.append("\(name) | refused: \(why)")
                continue
            }
            let unnamed = account.entries.filter { $0.reason == "no stage of the plan accounts for it" }
            #expect(unnamed.isEmpty, "\(name): no decision of the plan names \(unnamed.map(\.item))")
            let missing = try missing(account, of: path)
            #expect(missing.isEmpty, "\(name): \(missing)")
            let (copied, encoded, left) = (
                account.entries.filter { $0.outcome == "copied" }.count,
                account.entries.filter { $0.outcome == "encoded" }.count,
                account.entries.filter { $0.outcome == "dropped" }.count
            )
            rows.append("\(name) | \(copied) copied, \(encoded) encoded, \(left) left")
        }
        print(rows.map { "ledger: " + $0 }.joined(separator: "\n"))
        #expect(rows.count >= 60 && rows.filter { $0.contains("refused") }.count <= 8)
    }
}
