public import Foundation

/// What a finished program said.
public struct ProgramResult: Sendable {
    /// Its exit status; 128 + n after signal n.
    public var status: Int32
    /// Standard output.
    public var output: Data
    /// Standard error.
    public var errors: String
    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs a program to its end; its output goes through files, so that nothing can fill a pipe.
@discardableResult
public func program(
    _ path: String, _ arguments: [String], directory: String? = nil, environment: [String: String] = [:]
) throws -> ProgramResult {
    let scratch = try Scratch()
    let (out, err) = (scratch.file("out"), scratch.file("err"))
    for file in [out, err] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    func result(_ status: Int32) -> ProgramResult {
        ProgramResult(
            status: status, output: FileManager.default.contents(atPath: out) ?? Data(),
            errors: String(decoding: FileManager.default.contents(atPath: err) ?? Data(), as: UTF8.self))
    }
    if ["ffmpeg", "ffprobe"].contains(path), let server = ForkServer.of(path),
        let status = server.run(
            [path] + arguments, directory: directory ?? FileManager.default.currentDirectoryPath,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, output: out,
            errors: err)
    {
        // The wait status: the exit status, or the signal in the low seven bits.
        return result(status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f)
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path.contains("/") ? path : "/usr/bin/env")
    process.arguments = path.contains("/") ? arguments : [path] + arguments
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: out)
    process.standardError = FileHandle(forWritingAtPath: err)
    try process.run()
    process.waitUntilExit()
    return result(
        process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus)
}

/// ffmpeg, for making media that tests need; throws with its words when it fails.
public func ffmpeg(_ arguments: String...) throws { try ffmpeg(arguments) }

/// The same of arguments that are put together.
public func ffmpeg(_ arguments: [String]) throws {
    let result = try program("ffmpeg", ["-v", "error", "-nostdin", "-y"] + marking(arguments))
    if result.status != 0 { throw JudgeError(message: "ffmpeg: \(result.errors)") }
}

/// Colors that an encoder is told are those of its frames too: ffmpeg 7 goes by these alone.
private func marking(_ arguments: [String]) -> [String] {
    let names = [
        "-color_primaries": "color_primaries", "-color_trc": "color_trc", "-colorspace": "colorspace",
        "-color_range": "range",
    ]
    let inputs = arguments.lastIndex(of: "-i") ?? 0
    let said = arguments.indices.dropFirst(inputs).compactMap { index in
        names[arguments[index]].map { "\($0)=\(arguments[index + 1])" }
    }
    let copies = zip(arguments, arguments.dropFirst()).contains {
        ["-c", "-c:v", "-codec"].contains($0) && $1 == "copy"
    }
    guard !said.isEmpty, !copies, !arguments.contains("-filter_complex"), let output = arguments.last else {
        return arguments
    }
    let mark = "setparams=" + said.joined(separator: ":")
    if let chain = arguments.firstIndex(of: "-vf") {
        var marked = arguments
        marked[chain + 1] += "," + mark
        return marked
    }
    return arguments.dropLast() + ["-vf", mark, output]
}

/// A measurement that could not be made.
public struct JudgeError: Error, CustomStringConvertible {
    /// Why.
    public var message: String
    /// Why.
    public var description: String { message }
    /// Makes an error.
    public init(message: String) { self.message = message }
}

/// A line of a shell script that waits until the run `$pid` has opened so many unfinished outputs in a folder, with names or
/// without. That a job was started, or that the folder is there, says too little: on a busy machine what comes next would
/// meet a run that has not got so far.
public func untilOutputsAreOpen(in folder: String, count: Int = 1) -> String {
    """
    until [ "$(ls -l /proc/$pid/fd 2>/dev/null | grep -c '\(folder)/[.#]')" -ge \(count) ]
    do kill -0 $pid || exit 99; done
    """
}
