extension EncoderModel {
    /// libavcodec's FLAC encoder.
    static let flac: EncoderModel = {
        var model = losslessAudio("flac")
        model.bitDepths = [16, 24]
        model.compression = 0.6
        model.hasIndependentFLACFrames = true
        model.options = """
            lpc_coeff_precision lpc_type lpc_passes min_partition_order max_partition_order \
            prediction_order_method ch_mode exact_rice_parameters multi_dim_quant min_prediction_order \
            max_prediction_order
            """
        return model
    }()
}
