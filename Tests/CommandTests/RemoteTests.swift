import Foundation
import TestSupport
import Testing

/// An HTTP server for tests, with range requests. The first path component selects a fault.
final class RangeServer {
    let port: Int
    private let scheme: String
    private let process = Process()

    private static let script = """
        import http.server, os, re, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            served = 0
            def log_message(self, *a): pass
            def do_GET(self):
                mode, _, name = self.path.split("?")[0].lstrip("/").partition("/")
                path = os.path.join(sys.argv[1], name)
                if mode == "away":
                    self.send_response(302)
                    self.send_header("Location", "file://" + path)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                if mode not in ("ok", "whole", "broken") or not os.path.isfile(path):
                    self.send_error(404)
                    return
                size = os.path.getsize(path)
                first, last, code = 0, size - 1, 200
                asked = re.match(r"bytes=(\\d+)-(\\d*)", self.headers.get("Range") or "")
                if asked and mode != "whole":
                    first, last, code = int(asked[1]), int(asked[2] or size - 1), 206
                if mode == "broken" and first + (last - first) // 2 > size // 2:
                    self.send_error(404)
                    return
                self.send_response(code)
                self.send_header("Content-Length", str(last - first + 1))
                if code == 206:
                    self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
                self.end_headers()
                with open(path, "rb") as file:
                    file.seek(first)
                    data = file.read(last - first + 1)
                if mode == "broken":
                    data = data[: max(0, size // 2 - first)]
                    self.close_connection = True
                try:
                    self.wfile.write(data)
                except OSError:
                    pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if len(sys.argv) > 2:
            import ssl
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[2])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    /// Starts the server. `certificate` is the path of a PEM file with key and certificate; nil for HTTP.
    init(serving folder: String, certificate: String? = nil) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.script, folder] + (certificate.map { [$0] } ?? [])
        process.standardOutput = output
        scheme = certificate == nil ? "http" : "https"
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data([0x0a]) {
            line += byte
        }
        guard let port = Int(String(decoding: line, as: UTF8.self)) else {
            throw ProgramError(message: "the server doesn't start")
        }
        self.port = port
    }

    /// Ends the server by SIGKILL: SIGTERM is blocked in processes that are started on a Dispatch thread.
    func stop() { kill(process.processIdentifier, SIGKILL) }

    func url(_ path: String) -> String { "\(scheme)://127.0.0.1:\(port)/\(path)" }
}

@Suite struct RemoteTests {
    private func job(_ url: String, _ target: String) -> String {
        """
        version: 1
        assets: { remote: { url: "\(url)" } }
        jobs:
          j:
            asset: remote
            range: { start: 0.5s, end: 2.5s }
            cut: smart
            tracks: [ { video: first, copy: true }, { audio: first, encode: { codec: flac } } ]
            destination: \(target)
        """
    }

    @Test func remoteSourcesYieldTheSameOutputAsLocalOnes() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4", "-c:v",
            "libx264", "-g", "20", "-c:a", "aac", scratch.file("s.mp4"))
        let server = try RangeServer(serving: scratch.path)
        defer { server.stop() }
        try scratch.write(job(server.url("ok/s.mp4?key=1"), "remote.mkv"), to: "remote.yaml")
        try scratch.write(
            job(server.url("ok/s.mp4"), "local.mkv").replacingOccurrences(
                of: "{ url: \"\(server.url("ok/s.mp4"))\" }", with: "./s.mp4"), to: "local.yaml")
        let remote = try program(
            TestPaths.tandem, ["run", "--allow-network", "remote.yaml"], directory: scratch.path)
        #expect(remote.status == 0, "\(remote.errors)")
        let local = try program(TestPaths.tandem, ["run", "local.yaml"], directory: scratch.path)
        #expect(local.status == 0, "\(local.errors)")
        func hashes(_ name: String) throws -> String {
            try program(
                "ffmpeg", ["-v", "error", "-i", scratch.file(name), "-f", "framemd5", "-"]
            ).text
        }
        let (remoteHashes, localHashes) = (try hashes("remote.mkv"), try hashes("local.mkv"))
        #expect(
            remoteHashes == localHashes && localHashes.split(separator: "\n").count > 50,
            "\(remoteHashes) \(localHashes)")
        let draft = try program(
            TestPaths.tandem, ["init", "--allow-network", server.url("ok/s.mp4")], directory: scratch.path)
        try scratch.write(draft.text, to: "draft.yaml")
        let checked = try program(
            TestPaths.tandem, ["validate", "--allow-network", "draft.yaml"], directory: scratch.path)
        #expect(checked.status == 0, "\(draft.errors) \(checked.errors)")
        #expect(draft.text.contains("{ url: \"\(server.url("ok/s.mp4"))\" }"), "\(draft.text)")
    }

    @Test func urlsRequireAllowNetwork() throws {
        let scratch = try Scratch()
        try scratch.write(job("http://127.0.0.1:9/a.mp4", "a.mkv"), to: "j.yaml")
        for command in ["validate", "plan", "run"] {
            let result = try program(TestPaths.tandem, [command, "j.yaml"], directory: scratch.path)
            #expect(result.status == 3)
            #expect(result.errors.contains("j.yaml:2:26: error[network-not-allowed]"), "\(result.errors)")
        }
        let probe = try program(TestPaths.tandem, ["probe", "http://127.0.0.1:9/a.mp4"])
        #expect(probe.status == 1 && probe.errors.contains("network access is not allowed"))
    }

    @Test func selfSignedCertificatesAreRejected() throws {
        let scratch = try Scratch()
        let (key, certificate) = (scratch.file("key"), scratch.file("certificate"))
        let created = try program(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "1",
                "-keyout", key, "-out", certificate,
            ])
        #expect(created.status == 0, "\(created.errors)")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("s.wav"))
        let both =
            try String(contentsOfFile: key, encoding: .utf8)
            + String(contentsOfFile: certificate, encoding: .utf8)
        let server = try RangeServer(serving: scratch.path, certificate: scratch.write(both, to: "both"))
        defer { server.stop() }
        let result = try program(TestPaths.tandem, ["probe", "--allow-network", server.url("ok/s.wav")])
        #expect(result.status == 1 && !result.text.contains("audio"), "\(result.text) \(result.errors)")
        #expect(result.errors.contains("can't be fetched"), "\(result.errors)")
    }

    @Test(arguments: [
        ("nowhere/s.mp4", "404"), ("away/s.mp4", "can't be fetched"),
        ("whole/s.mp4", "doesn't support range requests"),
        ("broken/s.mp4", "s.mp4"),
    ])
    func serverFaultsAreErrorsThatNameTheSource(_ path: String, _ words: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=640x480:r=25:d=4", "-f", "lavfi", "-i", "sine=d=4", "-c:v",
            "libx264", "-crf", "1", "-g", "20", "-c:a", "aac", "-movflags", "+faststart",
            scratch.file("s.mp4"))
        let server = try RangeServer(serving: scratch.path)
        defer { server.stop() }
        try scratch.write(
            """
            version: 1
            jobs:
              j:
                asset: { url: "\(server.url(path))" }
                tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]
                destination: o.mp4
            """, to: "j.yaml")
        let result = try program(
            TestPaths.tandem, ["run", "--allow-network", "j.yaml"], directory: scratch.path)
        #expect(result.status == 1)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(scratch.contents == ["j.yaml", "s.mp4"])
    }
}
