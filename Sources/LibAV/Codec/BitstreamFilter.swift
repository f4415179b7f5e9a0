internal import CFFmpeg

/// A filter that rewrites packets without decoding them (`AVBSFContext`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct BitstreamFilter: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVBSFContext>

    private init(adopting context: UnsafeMutablePointer<AVBSFContext>) { self.context = context }

    deinit {
        var copy: UnsafeMutablePointer<AVBSFContext>? = context
        av_bsf_free(&copy)
    }

    /// Opens a bitstream filter by its FFmpeg name (`av_bsf_init`). Throws if this build doesn't contain it.
    package static func open(_ name: String, _ parameters: CodecParameters, timeBase: Rational)
        throws(AVError)
        -> BitstreamFilter
    {
        guard let filter = av_bsf_get_by_name(name) else {
            throw AVError(
                code: tandem_einval, operation: "av_bsf_get_by_name",
                detail: "the bitstream filter \(name) is not available in this build")
        }
        var allocated: UnsafeMutablePointer<AVBSFContext>?
        try check(av_bsf_alloc(filter, &allocated), "av_bsf_alloc")
        guard let context = allocated else { throw .outOfMemory("av_bsf_alloc") }
        let owner = BitstreamFilter(adopting: context)
        try check(avcodec_parameters_copy(context.pointee.par_in, parameters.raw), "avcodec_parameters_copy")
        context.pointee.time_base_in = timeBase.av
        try check(av_bsf_init(context), "av_bsf_init")
        return owner
    }

    /// Sends a packet, whose data is moved to the filter (`av_bsf_send_packet`). All pending output must be received
    /// first.
    package func send(_ packet: borrowing Packet) throws(AVError) {
        try check(av_bsf_send_packet(context, packet.raw), "av_bsf_send_packet")
    }

    /// Signals the end of the input; the remaining packets can then be received.
    package func sendEnd() throws(AVError) {
        try check(av_bsf_send_packet(context, nil), "av_bsf_send_packet")
    }

    /// Receives the next packet (`av_bsf_receive_packet`).
    package func receive(into packet: borrowing Packet) throws(AVError) -> CodecOutput {
        let code = av_bsf_receive_packet(context, packet.raw)
        if code == tandem_eagain { return .needsInput }
        if code == tandem_eof { return .ended }
        try check(code, "av_bsf_receive_packet")
        return .ready
    }
}
