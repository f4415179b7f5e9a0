internal import LibAV

/// An error that ends the writing of packets.
struct OutputFailure: Error {
    /// The error with which the writer fails.
    let cause: any Error
    /// The error of the call that wrote the packet. `finishWriting` reports it if the writer was cancelled
    /// meanwhile, and so doesn't fail.
    let error: MediaError

    private init(_ error: AVError, failingWith cause: (any Error)?) {
        self.error = .writing(error)
        self.cause = cause ?? self.error
    }

    /// Creates a failure of FFmpeg or of a system call. `cause` is the error with which the writer fails, if
    /// it is another one.
    init(_ error: AVError, cause: MediaError? = nil) { self.init(error, failingWith: cause) }

    /// Creates a failure from an error of FFmpeg, or from another one, such as that of a delegate.
    init(_ error: any Error) {
        if let error = error as? AVError {
            self.init(error, failingWith: nil)
        } else {
            self.init(
                AVError(code: -125, operation: "writing", detail: "\(error)"), failingWith: error)
        }
    }
}
