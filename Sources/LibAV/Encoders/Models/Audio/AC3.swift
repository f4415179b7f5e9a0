extension EncoderModel {
    /// libavcodec's AC-3 encoder.
    static let ac3: EncoderModel = {
        var model = EncoderModel("ac3", codec: "ac3", .audio)
        model.rate.defaultRate = "by channels"
        model.rate.defaultBitRate = { $0 <= 2 ? 192_000 : 448_000 }
        model.samples.hasEncoderDelay = true
        model.privateOptions.options = """
            center_mixlev surround_mixlev mixing_level room_type per_frame_metadata copyright dialnorm dsur_mode \
            original dmix_mode ltrt_cmixlev ltrt_surmixlev loro_cmixlev loro_surmixlev dsurex_mode dheadphone_mode \
            ad_conv_type stereo_rematrixing channel_coupling cpl_start_band
            """
        return model
    }()
}
