internal import CFFmpeg

/// The upload of frames into the memory of a hardware device, for encoders that accept only hardware frames
/// (`AVHWFramesContext`).
enum DeviceFrames {
    /// Opens a device and attaches a pool of its frames to an encoder's context, which owns both. The context must
    /// contain the size and the pixel format of the frames to upload; its pixel format becomes that of the device.
    static func attach(
        _ device: String, to context: UnsafeMutablePointer<AVCodecContext>
    ) throws(AVError) {
        let type = av_hwdevice_find_type_by_name(device)
        var opened: UnsafeMutablePointer<AVBufferRef>?
        defer { av_buffer_unref(&opened) }
        let code = av_hwdevice_ctx_create(&opened, type, nil, nil, 0)
        guard code >= 0, let opened else {
            let reason = AVError(code: code, operation: "av_hwdevice_ctx_create").reason
            throw AVError(
                code: code, operation: "av_hwdevice_ctx_create",
                detail: "no \(device) device can be opened: \(reason)")
        }
        var frames: UnsafeMutablePointer<AVBufferRef>? = av_hwframe_ctx_alloc(opened)
        do throws(AVError) {
            guard let raw = frames?.pointee.data else { throw .outOfMemory("av_hwframe_ctx_alloc") }
            let pool = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: AVHWFramesContext.self)
            pool.pointee.format = av_get_pix_fmt(device)
            pool.pointee.sw_format = context.pointee.pix_fmt
            (pool.pointee.width, pool.pointee.height) = (context.pointee.width, context.pointee.height)
            try check(av_hwframe_ctx_init(frames), "av_hwframe_ctx_init")
            context.pointee.pix_fmt = pool.pointee.format
            context.pointee.hw_frames_ctx = frames
        } catch {
            av_buffer_unref(&frames)
            throw error
        }
    }

    /// Returns a copy of a frame in the memory of the encoder's device. The caller frees it.
    static func upload(
        _ frame: UnsafeMutablePointer<AVFrame>, for context: UnsafeMutablePointer<AVCodecContext>
    ) throws(AVError) -> UnsafeMutablePointer<AVFrame> {
        var copy = av_frame_alloc()
        guard let uploaded = copy else { throw .outOfMemory("av_frame_alloc") }
        do throws(AVError) {
            try check(
                av_hwframe_get_buffer(context.pointee.hw_frames_ctx, uploaded, 0), "av_hwframe_get_buffer")
            try check(av_hwframe_transfer_data(uploaded, frame, 0), "av_hwframe_transfer_data")
            try check(av_frame_copy_props(uploaded, frame), "av_frame_copy_props")
            return uploaded
        } catch {
            av_frame_free(&copy)
            throw error
        }
    }
}
