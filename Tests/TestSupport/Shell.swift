public import Foundation

/// The exit status and output of a finished program.
public struct ProgramResult: Sendable {
    /// Exit status; 128 + n if signal n ended the program.
    public var status: Int32
    /// Bytes of standard output.
    public var output: Data
    /// Standard error as text.
    public var errors: String
    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs a program until it exits. Output is redirected to files, because a full pipe would block the program.
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
    if let server = ForkServer.of(path, environment: environment),
        let status = server.run(
            [path] + arguments, directory: directory ?? FileManager.default.currentDirectoryPath,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, output: out,
            errors: err)
    {
        // The wait status contains the exit status, or the signal in its low seven bits.
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

/// Runs ffmpeg with arguments that create media. Throws its messages if it fails.
public func ffmpeg(_ arguments: String...) throws { try ffmpeg(arguments) }

/// Runs ffmpeg with arguments that create media. Throws its messages if it fails. A file that it has generated before from
/// the same filters is copied.
public func ffmpeg(_ arguments: [String]) throws {
    let (key, files) = (GeneratedFiles.key(arguments), GeneratedFiles.shared)
    if let key, let path = arguments.last, files.write(key, to: path) { return }
    let result = try program("ffmpeg", ["-v", "error", "-nostdin", "-y"] + marking(arguments))
    if result.status != 0 { throw ProgramError(message: "ffmpeg: \(result.errors)") }
    if let key, let path = arguments.last { files.store(key, from: path) }
}

/// Returns the arguments with a filter that sets the encoder's color options on frames, since ffmpeg 7 uses only the
/// values of frames.
private func marking(_ arguments: [String]) -> [String] {
    let names = [
        "-color_primaries": "color_primaries", "-color_trc": "color_trc", "-colorspace": "colorspace",
        "-color_range": "range",
    ]
    let inputs = arguments.lastIndex(of: "-i") ?? 0
    let values = arguments.indices.dropFirst(inputs).compactMap { index in
        names[arguments[index]].map { "\($0)=\(arguments[index + 1])" }
    }
    let copies = zip(arguments, arguments.dropFirst()).contains {
        ["-c", "-c:v", "-codec"].contains($0) && $1 == "copy"
    }
    guard !values.isEmpty, !copies, !arguments.contains("-filter_complex"), let output = arguments.last else {
        return arguments
    }
    let mark = "setparams=" + values.joined(separator: ":")
    if let chain = arguments.firstIndex(of: "-vf") {
        var marked = arguments
        marked[chain + 1] += "," + mark
        return marked
    }
    return arguments.dropLast() + ["-vf", mark, output]
}

/// The error of a failed setup or measurement.
public struct ProgramError: Error, CustomStringConvertible {
    /// Reason of the failure.
    public var message: String
    /// Reason of the failure.
    public var description: String { message }
    /// Creates an error with the given reason.
    public init(message: String) { self.message = message }
}

/// Returns a shell command that waits until the run `$pid` has opened `count` unfinished outputs in a folder, with or
/// without names. Waiting for the job's start or for the folder isn't sufficient: on a busy machine, the worker may
/// open its outputs much later.
public func untilOutputsAreOpen(in folder: String, count: Int = 1) -> String {
    """
    until [ "$(ls -l /proc/$pid/fd 2>/dev/null | grep -c '\(folder)/[.#]')" -ge \(count) ]
    do kill -0 $pid || exit 99; done
    """
}
