extension EncoderModel {
    /// Parameters of x264, x265 and SVT-AV1, which share most names, that job files can't set; see `parameterKeys`.
    static let commonParameterKeys: [String: String?] = [
        "keyint": "keyframe_interval", "bframes": "b_frames", "crf": "crf", "qp": "qp", "bitrate": "bitrate",
        "tbr": "bitrate", "vbv-maxrate": "max_bitrate", "vbv-bufsize": "buffer_size", "pass": "passes",
        "preset": "preset", "tune": "tune", "profile": "profile", "level": "level", "level-idc": "level",
        "fps": "frame_rate", "colorprim": "color", "transfer": "color", "colormatrix": "color",
        "range": "color",
        "fullrange": "color", "input-range": "color", "color-primaries": "color",
        "transfer-characteristics": "color", "matrix-coefficients": "color", "color-range": "color",
        "sar": "pixel_aspect_ratio", "output-depth": "pixel_format", "lossless": "lossless",
        "input-res": nil, "input-csp": nil, "input-depth": nil, "interlaced": nil, "tff": nil, "bff": nil,
        "fake-interlaced": nil, "interlace": nil, "field": nil, "timebase": nil, "force-cfr": nil,
        "annexb": nil, "repeat-headers": nil, "sps-id": nil, "frames": nil, "seek": nil,
    ]
}
