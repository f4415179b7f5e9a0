internal import LibAV

/// The private options of each encoder that job files may set, and the parameters inside those that are lists of their
/// own. A table of ours, as for filters: what opens files, reads or writes statistics, or is another key's affair isn't on
/// it.
enum EncoderOptionCatalog {
    /// The options of an encoder by its libav name.
    static func options(of encoder: String) -> OptionTable? { encoders[encoder] }

    /// The parameters of an option that is a list (`x264-params`); nil of any other.
    static func parameters(of option: String) -> OptionTable? { parameterLists[option] }

    /// The encoders, sorted.
    static var names: [String] { encoders.keys.sorted() }
    /// The options that are lists, sorted.
    static var lists: [String] { parameterLists.keys.sorted() }

    /// What libavcodec takes by another name, which is the one for job files.
    static let otherNames = ["x264opts": "x264-params", "x264_opts": "x264-params"]

    private static let encoders = OptionTable.tables(
        """
        libx264 x264-params fastfirstpass a53cc crf_max aq-mode aq-strength psy psy-rd:n rc-lookahead \
            weightb weightp wpredp:i ssim intra-refresh bluray-compat b-bias b-pyramid mixed-refs 8x8dct \
            fast-pskip aud mbtree deblock:n cplxblur partitions:w direct-pred slice-max-size nal-hrd \
            avcintra-class me_method/motion-est forced-idr coder b_strategy chromaoffset sc_threshold \
            noise_reduction udu_sei
        libx265 x265-params forced-idr udu_sei
        libvpx-vp9 lag-in-frames arnr-maxframes arnr-strength arnr-type arnr_max_frames arnr_strength arnr_type \
            tune error-resilient max-intra-rate static-thresh drop-threshold noise-sensitivity undershoot-pct \
            overshoot-pct auto-alt-ref cpu-used speed tile-columns tile-rows frame-parallel aq-mode row-mt \
            tune-content corpus-complexity enable-tpl rc_lookahead sharpness deadline quality
        libsvtav1 svtav1-params hielevel la_depth tier sc_detection tile_columns tile_rows
        prores_ks mbs_per_slice vendor:w bits_per_mb quant_mat alpha_bits
        mjpeg huffman force_duplicated_matrix
        ffv1 slicecrc coder context
        aac aac_coder aac_ms aac_is aac_pns aac_tns aac_ltp aac_pred aac_pce
        libopus application frame_duration packet_loss fec vbr mapping_family apply_phase_inv
        libmp3lame reservoir joint_stereo abr
        ac3 center_mixlev surround_mixlev mixing_level room_type per_frame_metadata copyright dialnorm dsur_mode \
            original dmix_mode ltrt_cmixlev ltrt_surmixlev loro_cmixlev loro_surmixlev dsurex_mode dheadphone_mode \
            ad_conv_type stereo_rematrixing channel_coupling cpl_start_band
        libvorbis iblock
        flac lpc_coeff_precision lpc_type lpc_passes min_partition_order max_partition_order \
            prediction_order_method ch_mode exact_rice_parameters multi_dim_quant min_prediction_order \
            max_prediction_order
        """)

    private static let parameterLists = OptionTable.tables(
        """
        x264-params 8x8dct:b analyse:w partitions:w aq-mode:i aq-strength:d aud:b b-adapt:i b-bias:i b-pyramid:w \
            bluray-compat:b cabac:b chroma-me:b chroma-qp-offset:i constrained-intra:b cplxblur:d \
            cqm:=flat|jvt crf-max:d dct-decimate:b deadzone-inter:i deadzone-intra:i deblock/filter:n \
            deterministic:b direct/direct-pred:w fast-pskip:b filler:b intra-refresh:b ipratio/ip-factor:d \
            lookahead-threads:i mbtree:b me:w merange/me-range:i min-keyint/keyint-min:i mixed-refs:b mvrange:i \
            mvrange-thread:i nal-hrd:w no-8x8dct:b no-cabac:b no-chroma-me:b no-dct-decimate:b no-deblock:b \
            no-fast-pskip:b no-mbtree:b no-mixed-refs:b no-psy:b no-weightb:b nr:i open-gop:b \
            opencl:=0 overscan:w pbratio/pb-factor:d pic-struct:b psy:b psy-rd:n qblur:d qcomp:d qpmax:i qpmin:i \
            qpstep:i ratetol:d rc-lookahead:i ref/frameref:i scenecut:i slice-max-mbs:i slice-max-size:i \
            slice-min-mbs:i slices:i slices-max:i sliced-threads:b stitchable:b subme/subq:i sync-lookahead:i \
            trellis:i vbv-init:d videoformat:w weightb:b weightp:i zones:z
        x265-params amp:b aq-mode:i aq-motion:b aq-strength:d aud:b b-adapt:i b-intra:b b-pyramid:b bframe-bias:i \
            cbqpoffs:i chromaloc:i const-vbv:b constrained-intra:b cplxblur:d crf-max:d crf-min:d \
            crqpoffs:i ctu:i cu-lossless:b cutree:b deblock:n early-skip:b fades:b fast-intra:b frame-threads:i \
            gop-lookahead:i hash:i hdr10:b hdr10-opt:b hevc-aq:b high-tier:b hist-scenecut:b hme:b \
            hme-search:w hme-range:n hrd:b hrd-concat:b idr-recovery-sei:b intra-refresh:b ipratio:d \
            limit-modes:b limit-refs:i limit-sao:b limit-tu:i log-level:w lookahead-slices:i \
            lookahead-threads:i master-display:w max-ausize-factor:d max-cll:2 max-luma:i max-merge:i \
            max-tu-size:i me:w merange:i min-cu-size:i min-keyint:i min-luma:i nr-inter:i nr-intra:i open-gop:b \
            opt-cu-delta-qp:b opt-qp-pps:b opt-ref-list-length-pps:b overscan:w pbratio:d pme:b pmode:b pools:w \
            psy-rd:d psy-rdoq:d qblur:d qcomp:d qg-size:i qpmax:i qpmin:i qpstep:i radl:i rc-grain:b \
            rc-lookahead:i rd:i rd-refine:b rdoq-level/rdoq:i rdpenalty:i rect:b ref:i rskip:i \
            rskip-edge-threshold:d sao:b sao-non-deblock:b scenecut:i scenecut-bias:d selective-sao:i \
            signhide:b single-sei:b slices:i slow-firstpass:b splitrd-skip:b ssim-rd:b strict-cbr:b \
            strong-intra-smoothing:b subme:i temporal-layers:i temporal-mvp:b tskip:b tskip-fast:b \
            tu-inter-depth:i tu-intra-depth:i uhd-bd:b vbv-end:d vbv-init:d vbv-live-multi-pass:b videoformat:w \
            weightb:b weightp:b wpp:b zones:z no-amp:b no-b-intra:b no-b-pyramid:b no-cutree:b no-deblock:b \
            no-early-skip:b no-fast-intra:b no-open-gop:b no-psy-rd:b no-rect:b no-sao:b no-scenecut:b \
            no-signhide:b no-strong-intra-smoothing:b no-temporal-mvp:b no-weightb:b no-weightp:b no-wpp:b
        svtav1-params aq-mode:i bias-pct:i buf-initial-sz:i buf-optimal-sz:i buf-sz:i chroma-sample-position:w \
            content-light:2 enable-cdef:i enable-dlf:i enable-hdr:b enable-mfmv:i \
            enable-overlays:b enable-qm:b enable-restoration:i enable-tf:i fast-decode:i film-grain:i \
            film-grain-denoise:b hierarchical-levels:i irefresh-type:i lookahead:i lp:i mastering-display:w \
            max-qp:i max-section-pct:i maxsection-pct:i mbr:i min-qp:i minsection-pct:i overshoot-pct:i pin:i \
            pred-struct:i qm-max:0..15 qm-min:0..15 rc:i recode-loop:i scd:i scm:i sframe-dist:i sframe-mode:i ss:i \
            superres-denom:i superres-kf-denom:i superres-mode:i superres-kf-qthres:i superres-qthres:i \
            tile-columns:i tile-rows:i tune:i undershoot-pct:i
        """)
}
