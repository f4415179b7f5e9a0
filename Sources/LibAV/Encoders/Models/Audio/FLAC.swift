extension EncoderModel {
    /// libavcodec's FLAC encoder.
    static let flac: EncoderModel = {
        var model = losslessAudio("flac")
        model.samples.bitDepths = [16, 24]
        model.estimate.compression = 0.6
        model.operation.hasIndependentFLACFrames = true
        model.privateOptions.options = """
            lpc_coeff_precision lpc_type lpc_passes min_partition_order max_partition_order \
            prediction_order_method ch_mode exact_rice_parameters multi_dim_quant min_prediction_order \
            max_prediction_order
            """
        return model
    }()
}
