import LibAV
import Testing

@testable import JobSpec

/// The encoder models are consistent with each other, with the codecs, and with this build of FFmpeg.
@Suite struct EncoderModelTests {
    @Test func everyCodecHasAnEncoder() {
        let codecs =
            CodecCatalog.video + CodecCatalog.audio + CodecCatalog.imageCodecs + CodecCatalog.animations
            + [CodecCatalog.waveform]
        for codec in codecs {
            #expect(!codec.codec.encoders.isEmpty, "\(codec.name)")
            #expect(codec.availableEncoder?.name == codec.encoder.name, "\(codec.name)")
        }
        let listed = Set(codecs.flatMap { $0.codec.encoders.map(\.name) })
        #expect(Set(EncoderModel.table.map(\.name)) == listed, "every encoder must belong to a codec")
    }

    @Test func modelsNameTheCodecThatTheEncoderProduces() {
        for model in EncoderModel.table {
            guard let encoder = EncoderInfo(named: model.name) else { continue }
            #expect(encoder.codecName == model.codec, "\(model.name)")
            for format in model.frames.pixelFormats ?? [] {
                #expect(PixelFormat(named: format) != nil, "\(model.name) \(format)")
            }
        }
    }

    /// The options that keys set on an encoder exist in this build's encoder.
    @Test func settingOptionsExistInTheEncoder() {
        for model in EncoderModel.table {
            guard let encoder = EncoderInfo(named: model.name) else { continue }
            var places: [SettingOption] = []
            if let quality = model.rate.constantQuality { places.append(quality.option) }
            if model.rate.qpRange != nil { places.append(model.rate.qpOption) }
            if model.tuning.presets != nil { places.append(model.tuning.presetOption) }
            if model.tuning.tunes != nil { places.append(model.tuning.tuneOption) }
            if case .set(let place, _) = model.rate.lossless { places.append(place) }
            for place in places {
                switch place {
                case .option("global_quality"), .quantizer: break
                case .option(let name): #expect(encoder.option(name) != nil, "\(model.name) \(name)")
                case .entry(_, let list): #expect(encoder.option(list) != nil, "\(model.name) \(list)")
                }
            }
        }
    }

    @Test func smartCutsHaveOneEncoderPerCodec() {
        for codec in ["h264", "hevc"] {
            let models = EncoderModel.encoders(of: codec).filter { $0.nearLossless != nil }
            #expect(models.count == 1, "\(codec)")
            for model in models {
                #expect(model.tuning.presets?.contains(model.nearLossless?.preset ?? "") == true)
                #expect(model.privateOptions.parameterLists[model.nearLossless?.parameters ?? ""] != nil)
            }
        }
    }
}
