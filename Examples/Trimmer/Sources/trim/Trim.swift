import Dispatch
import Foundation
import TandemKit

/// Exports a section of a file, with progress and cancel.
@main struct Trim {
    static func main() async {
        do {
            let request = try Request(CommandLine.arguments.dropFirst())
            let result = try await export(request)
            print("\(request.output.path): \(result.duration) s, \(result.fileLength) bytes")
        } catch let error as UsageError {
            stop(error.message, status: 64)
        } catch is CancellationError {
            stop("cancelled; no file was written", status: 130)
        } catch {
            stop("\(error)", status: 1)
        }
    }

    /// Exports the section of the request. Ctrl-C cancels the export, which then throws `CancellationError`.
    private static func export(_ request: Request) async throws -> ExportResult {
        let session = ExportSession(asset: Asset(url: request.input), preset: request.preset)
        session.timeRange = request.range
        let interrupt = await handleInterrupts { session.cancelExport() }
        defer { interrupt.cancel() }
        let progress = Task {
            for await (_, fraction) in session.states() { show("\r\(Int(fraction * 100)) %") }
        }
        defer {
            progress.cancel()
            show("\r")
        }
        let result = try await session.export(to: request.output)
        // The last state is that of the completed export.
        await progress.value
        return result
    }

    /// Installs a handler for SIGINT, and returns once signals reach it.
    ///
    /// Dispatch registers the source later, on another thread, and then replaces the signal's default action. The usual
    /// `signal(SIGINT, SIG_IGN)` before it would discard a signal that arrives in between; by default it ends the program,
    /// which has written nothing.
    private static func handleInterrupts(
        _ handler: @escaping @Sendable () -> Void
    ) async -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: SIGINT)
        source.setEventHandler(handler: handler)
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.activate()
        }
        return source
    }

    /// Writes to standard error, so that standard output contains only the result.
    private static func show(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }

    private static func stop(_ message: String, status: Int32) -> Never {
        show("trim: \(message)\n")
        exit(status)
    }
}

/// The arguments of the program.
struct Request {
    let input: URL
    let output: URL
    let range: TimeRange
    let preset: ExportPreset

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        let arguments = Array(arguments)
        guard arguments.count == 4 || arguments.count == 5 else {
            throw UsageError("usage: trim INPUT OUTPUT START END [PRESET]")
        }
        input = URL(filePath: arguments[0])
        output = URL(filePath: arguments[1])
        let (start, end) = (try Self.time(arguments[2]), try Self.time(arguments[3]))
        guard start < end else { throw UsageError("the start must be before the end") }
        range = TimeRange(start: start, end: end)
        let name = arguments.count == 5 ? arguments[4] : ExportPreset.passthrough.name
        guard let preset = ExportPreset.all.first(where: { $0.name == name }) else {
            let names = ExportPreset.all.map(\.name).joined(separator: ", ")
            throw UsageError("unknown preset `\(name)`; expected one of \(names)")
        }
        self.preset = preset
    }

    /// Returns a time such as `12.5`, `1:30` or `1:02:03.25`, exact to the millisecond.
    static func time(_ text: String) throws(UsageError) -> MediaTime {
        var seconds = 0.0
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for part in parts {
            guard parts.count <= 3, let value = Double(part), (0..<1_000_000).contains(value) else {
                throw UsageError("`\(text)` is not a time; expected a form such as 12.5, 1:30 or 1:02:03.25")
            }
            seconds = seconds * 60 + value
        }
        return MediaTime(value: Int64((seconds * 1000).rounded()), timescale: 1000)
    }
}

/// An error in the arguments.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
