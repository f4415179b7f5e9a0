internal import LibAV

/// The filters that job files may use, with the options that they may set: filters with one input and one
/// output that open no file, library, device or network.
///
/// The table is independent of libavfilter's list, so that filters of newer versions aren't allowed
/// automatically. Options have libavfilter's order, by which options without names are identified.
enum FilterCatalog {
    /// Name of the filter that implements `normalize`.
    static let loudnessNormalizer = "loudnorm"

    /// Returns the filters for a kind of track with their options.
    static func tables(_ type: MediaType) -> [String: OptionTable] { type == .video ? video : audio }

    private static let video = OptionTable.tables(
        """
        atadenoise 0a 0b 1a 1b 2a 2b s p a 0s 1s 2s
        avgblur sizeX planes sizeY
        bm3d sigma block bstep group range mstep thmse hdthr estim ref planes
        boxblur luma_radius/lr:e luma_power/lp chroma_radius/cr:e chroma_power/cp alpha_radius/ar:e \
            alpha_power/ap
        bwdif mode:=send_frame|0 parity deint
        cas strength planes
        chromanr thres sizew sizeh stepw steph threy threu threv distance
        chromashift cbh cbv crh crv edge
        colorbalance rs gs bs rm gm bm rh gh bh pl
        colorchannelmixer rr rg rb ra gr gg gb ga br bg bb ba ar ag ab aa pc pa
        colorcontrast rc gm by rcw gmw byw pl
        colorcorrect rl bl rh bh saturation analyze
        colorize hue saturation lightness mix
        colorlevels rimin gimin bimin aimin rimax gimax bimax aimax romin gomin bomin aomin romax gomax \
            bomax aomax preserve
        colorspace all space range primaries trc format fast dither wpadapt iall ispace irange \
            iprimaries itrc
        colortemperature temperature mix pl
        crop out_w/w:e out_h/h:e x:e y:e keep_aspect exact
        curves preset master/m:n red/r:n green/g:n blue/b:n all:n
        dblur angle radius planes
        deband 1thr 2thr 3thr 4thr range/r direction/d blur/b coupling/c
        deblock filter block alpha beta gamma delta planes
        deflate threshold0 threshold1 threshold2 threshold3
        deflicker size/s mode/m bypass
        delogo x:e y:e w:e h:e show
        despill type mix expand red green blue brightness alpha
        drawbox x:e y:e width/w:e height/h:e color/c:c thickness/t:e replace
        drawgrid x:e y:e width/w:e height/h:e color/c:c thickness/t:e replace
        edgedetect high low mode planes
        eq contrast:e brightness:e saturation:e gamma:e gamma_r:e gamma_g:e gamma_b:e gamma_weight:e \
            eval
        erosion coordinates threshold0 threshold1 threshold2 threshold3
        exposure exposure black
        fade type/t start_frame/s nb_frames/n alpha start_time/st duration/d color/c
        fftdnoiz sigma amount block overlap method prev next planes window
        fillborders left right top bottom mode color
        format pix_fmts:w
        gblur sigma steps planes sigmaV
        gradfun strength radius
        grayworld
        hflip
        histeq strength intensity antibanding
        hqdn3d luma_spatial chroma_spatial luma_tmp chroma_tmp
        hsvhold hue sat val similarity blend
        hue h:e s:e H:e b:e
        huesaturation hue saturation intensity colors strength rw gw bw lightness
        il luma_mode/l chroma_mode/c alpha_mode/a luma_swap/ls chroma_swap/cs alpha_swap/as
        inflate threshold0 threshold1 threshold2 threshold3
        lenscorrection cx cy k1 k2 i fc
        limiter min max planes
        lumakey threshold tolerance softness
        lut c0:e c1:e c2:e c3:e y:e u:e v:e r:e g:e b:e a:e
        lutrgb c0:e c1:e c2:e c3:e y:e u:e v:e r:e g:e b:e a:e
        lutyuv c0:e c1:e c2:e c3:e y:e u:e v:e r:e g:e b:e a:e
        monochrome cb cr size high
        negate components negate_alpha
        nlmeans s p pc r rc
        noise all_seed all_strength/alls all_flags/allf c0_seed c0_strength/c0s c0_flags/c0f c1_seed \
            c1_strength/c1s c1_flags/c1f c2_seed c2_strength/c2s c2_flags/c2f c3_seed c3_strength/c3s \
            c3_flags/c3f
        normalize blackpt whitept smoothing independence strength
        null
        owdenoise depth luma_strength/ls chroma_strength/cs
        pad width/w:e height/h:e x:e y:e color eval:=init|0 aspect
        perspective x0:e y0:e x1:e y1:e x2:e y2:e x3:e y3:e interpolation sense eval
        pixelize width/w height/h mode/m planes/p
        pp subfilters:w
        pseudocolor c0:e c1:e c2:e c3:e index/i preset/p opacity
        removegrain m0 m1 m2 m3
        rgbashift rh rv gh gv bh bv ah av edge
        rotate angle/a:e out_w/ow:e out_h/oh:e fillcolor/c:c bilinear
        scale w/width:e h/height:e flags:w interl:=0 size/s:w in_color_matrix:w out_color_matrix:w in_range \
            out_range in_v_chr_pos in_h_chr_pos out_v_chr_pos out_h_chr_pos force_original_aspect_ratio \
            force_divisible_by param0 param1 eval:=init|0 sws_dither:w
        setdar dar/ratio/r:e max
        setsar sar/ratio/r:e max
        shear shx shy fillcolor/c:c interp
        smartblur luma_radius/lr luma_strength/ls luma_threshold/lt chroma_radius/cr chroma_strength/cs \
            chroma_threshold/ct
        sobel planes scale delta
        swapuv
        tonemap tonemap param desat peak
        transpose dir passthrough
        unsharp luma_msize_x/lx luma_msize_y/ly luma_amount/la chroma_msize_x/cx chroma_msize_y/cy \
            chroma_amount/ca alpha_msize_x/ax alpha_msize_y/ay alpha_amount/aa
        vaguedenoiser threshold method nsteps percent planes type
        vflip
        vibrance intensity rbal gbal bbal rlum glum blum alternate
        vignette angle/a:e x0:e y0:e mode eval dither aspect
        yadif mode:=send_frame|0 parity deint
        zscale w/width:e h/height:e size/s:w dither/d filter/f out_range/range/r primaries/p transfer/t \
            matrix/m in_range/rangein/rin primariesin/pin transferin/tin matrixin/min chromal/c \
            chromalin/cin npl agamma param_a param_b
        """)

    private static let audio = OptionTable.tables(
        """
        acompressor level_in mode threshold ratio attack release makeup knee link detection level_sc mix
        acontrast contrast
        acrusher level_in level_out bits mix mode dc aa samples lfo lforange lforate
        adeclick window/w overlap/o arorder/a threshold/t burst/b method/m
        adeclip window/w overlap/o arorder/a threshold/t hsize/n method/m
        adynamicequalizer threshold dfrequency dqfactor tfrequency tqfactor attack release knee ratio \
            makeup range slew mode tftype
        adynamicsmooth sensitivity basefreq
        aecho in_gain out_gain delays:n decays:n
        aemphasis level_in level_out mode type
        aexciter level_in level_out amount drive blend freq ceil listen
        afade type/t start_sample/ss nb_samples/ns start_time/st duration/d curve/c
        afftdn noise_reduction/nr noise_floor/nf noise_type/nt band_noise/bn:n residual_floor/rf \
            track_noise/tn track_residual/tr output_mode/om adaptivity/ad floor_offset/fo noise_link/nl \
            band_multiplier/bm sample_noise/sn gain_smooth/gs
        aformat sample_fmts/f:w sample_rates/r:w channel_layouts/cl:w
        agate level_in mode range threshold ratio attack release makeup knee detection link level_sc
        alimiter level_in level_out limit attack release asc asc_level level latency
        allpass frequency/f width_type/t width/w mix/m channels/c:w normalize/n order/o transform/a \
            precision/r
        anlmdn strength/s patch/p research/r output/o smooth/m
        anull
        aphaser in_gain out_gain delay decay speed type
        apulsator level_in level_out mode amount offset_l offset_r width timing bpm ms hz
        aresample sample_rate resampler:=swr|soxr precision:d cutoff:d filter_size:i phase_shift:i \
            linear_interp:b exact_rational:b dither_method:w osf:w
        asoftclip type threshold output param oversample
        asubboost dry wet boost decay feedback cutoff slope delay channels:w
        asubcut cutoff order level
        asupercut cutoff order level
        asuperpass centerf order qfactor level
        asuperstop centerf order qfactor level
        bandpass frequency/f width_type/t width/w csg mix/m channels/c:w normalize/n transform/a \
            precision/r blocksize/b
        bandreject frequency/f width_type/t width/w mix/m channels/c:w normalize/n transform/a \
            precision/r blocksize/b
        bass frequency/f width_type/t width/w gain/g poles/p mix/m channels/c:w normalize/n transform/a \
            precision/r blocksize/b
        biquad a0 a1 a2 b0 b1 b2 mix/m channels/c:w normalize/n transform/a precision/r blocksize/b
        channelmap map:p channel_layout:p
        chorus in_gain out_gain delays:n decays:n speeds:n depths:n
        compand attacks:n decays:n points:n soft-knee gain volume delay
        compensationdelay mm cm m dry wet temp
        crossfeed strength range slope level_in level_out block_size
        crystalizer i c
        dcshift shift limitergain
        deesser i m f s
        dialoguenhance original enhance voice
        drmeter length
        dynaudnorm framelen/f gausssize/g peak/p maxgain/m targetrms/r coupling/n correctdc/c \
            altboundary/b compress/s threshold/t channels/h:w overlap/o
        earwax
        equalizer frequency/f width_type/t width/w gain/g mix/m channels/c:w normalize/n transform/a \
            precision/r blocksize/b
        extrastereo m c
        flanger delay depth regen width speed shape phase interp
        haas level_in level_out side_gain middle_source middle_phase left_delay left_balance left_gain \
            left_phase right_delay right_balance right_gain right_phase
        hdcd disable_autoconvert process_stereo cdt_ms force_pe analyze_mode bits_per_sample
        highpass frequency/f width_type/t width/w poles/p mix/m channels/c:w normalize/n transform/a \
            precision/r blocksize/b
        highshelf frequency/f width_type/t width/w gain/g poles/p mix/m channels/c:w normalize/n \
            transform/a precision/r blocksize/b
        loudnorm I/i LRA/lra TP/tp measured_I/measured_i measured_LRA/measured_lra \
            measured_TP/measured_tp measured_thresh offset linear dual_mono print_format
        lowpass frequency/f width_type/t width/w poles/p mix/m channels/c:w normalize/n transform/a \
            precision/r blocksize/b
        lowshelf frequency/f width_type/t width/w gain/g poles/p mix/m channels/c:w normalize/n \
            transform/a precision/r blocksize/b
        mcompand args:n
        pan args:p
        speechnorm peak/p expansion/e compression/c threshold/t raise/r fall/f channels/h:w invert/i \
            link/l
        stereotools level_in level_out balance_in balance_out softclip mutel muter phasel phaser mode \
            slev sbal mlev mpan base delay sclevel phase bmode_in bmode_out
        stereowiden delay feedback crossfeed drymix
        superequalizer 1b 2b 3b 4b 5b 6b 7b 8b 9b 10b 11b 12b 13b 14b 15b 16b 17b 18b
        surround chl_out:w chl_in:w level_in level_out lfe lfe_low lfe_high lfe_mode angle fc_in fc_out \
            fl_in fl_out fr_in fr_out sl_in sl_out sr_in sr_out bl_in bl_out br_in br_out bc_in bc_out \
            lfe_in lfe_out allx ally fcx flx frx blx brx slx srx bcx fcy fly fry bly bry sly sry bcy \
            win_size win_func overlap
        tiltshelf frequency/f width_type/t width/w gain/g poles/p mix/m channels/c:w normalize/n \
            transform/a precision/r blocksize/b
        treble frequency/f width_type/t width/w gain/g poles/p mix/m channels/c:w normalize/n \
            transform/a precision/r blocksize/b
        tremolo f d
        vibrato f d
        virtualbass cutoff strength
        volume volume:e precision eval replaygain replaygain_preamp replaygain_noclip
        """)
}
