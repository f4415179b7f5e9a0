internal import CFFmpeg

/// The declaration of an option of a filter or an encoder (`AVOption`). It is read from the constant `AVClass` of the
/// library, without creating a filter or an encoder.
package struct OptionInfo: Sendable {
    /// The type of an option's value (`AVOptionType`).
    package enum Kind: Sendable {
        case flags, integer, real, boolean, string, rational, imageSize, frameRate, pixelFormat, sampleFormat,
            duration, color, channelLayout, dictionary, other
    }

    /// Name of the option in FFmpeg.
    package let name: String
    /// The type of an option's value (`AVOptionType`).
    package let kind: Kind
    /// Bounds of a numeric value; infinite if the option declares none.
    package let range: ClosedRange<Double>
    /// Names of the constants that the option accepts; empty if there are none.
    package let constants: [String]

    /// Returns an option of a class or its children by name (`av_opt_find`); nil if it doesn't exist.
    static func find(_ name: String, in type: UnsafePointer<AVClass>) -> OptionInfo? {
        var holder: UnsafePointer<AVClass>? = type
        return withUnsafeMutablePointer(to: &holder) { object in
            let flags = AV_OPT_SEARCH_FAKE_OBJ | AV_OPT_SEARCH_CHILDREN
            guard let option = av_opt_find(object, name, nil, 0, flags) else { return nil }
            return OptionInfo(option.pointee, of: object)
        }
    }

    private init(_ option: AVOption, of object: UnsafeMutableRawPointer) {
        name = String(cString: option.name)
        kind = Self.kind(option.type)
        let (low, high) = (option.min, option.max)
        range = low.isFinite && high.isFinite && low <= high ? low...high : -.infinity ... .infinity
        var constants: [String] = []
        if let unit = option.unit {
            var next: UnsafePointer<AVOption>?
            while let found = av_opt_next(object, next) {
                next = found
                guard found.pointee.type == AV_OPT_TYPE_CONST, let other = found.pointee.unit,
                    String(cString: other) == String(cString: unit)
                else { continue }
                constants.append(String(cString: found.pointee.name))
            }
        }
        self.constants = constants
    }

    private static func kind(_ type: AVOptionType) -> Kind {
        switch type {
        case AV_OPT_TYPE_FLAGS: .flags
        case AV_OPT_TYPE_INT, AV_OPT_TYPE_INT64, AV_OPT_TYPE_UINT64: .integer
        case AV_OPT_TYPE_DOUBLE, AV_OPT_TYPE_FLOAT: .real
        case AV_OPT_TYPE_BOOL: .boolean
        case AV_OPT_TYPE_STRING: .string
        case AV_OPT_TYPE_RATIONAL: .rational
        case AV_OPT_TYPE_IMAGE_SIZE: .imageSize
        case AV_OPT_TYPE_VIDEO_RATE: .frameRate
        case AV_OPT_TYPE_PIXEL_FMT: .pixelFormat
        case AV_OPT_TYPE_SAMPLE_FMT: .sampleFormat
        case AV_OPT_TYPE_DURATION: .duration
        case AV_OPT_TYPE_COLOR: .color
        case AV_OPT_TYPE_CHLAYOUT: .channelLayout
        case AV_OPT_TYPE_DICT: .dictionary
        default: .other
        }
    }
}

/// Properties of this build's filters (`AVFilter`).
package enum FilterInfo {
    /// Returns whether this build contains a filter.
    package static func exists(_ name: String) -> Bool {
        (try? FilterLibrary.load())?.c.avfilter_get_by_name(name) != nil
    }

    /// Returns an option of a filter; nil if the filter or the option doesn't exist.
    package static func option(_ option: String, of filter: String) -> OptionInfo? {
        guard let found = (try? FilterLibrary.load())?.c.avfilter_get_by_name(filter),
            let type = found.pointee.priv_class
        else { return nil }
        return OptionInfo.find(option, in: type)
    }

    /// Returns whether a filter supports timeline editing (`enable`).
    package static func supportsTimeline(_ filter: String) -> Bool {
        guard let found = (try? FilterLibrary.load())?.c.avfilter_get_by_name(filter) else { return false }
        return found.pointee.flags & tandem_timeline_flags() != 0
    }

    /// Returns the media types of a filter's inputs and outputs; nil if they depend on its options
    /// (`AVFILTER_FLAG_DYNAMIC_INPUTS`) or if the filter doesn't exist.
    package static func pads(of filter: String) -> (inputs: [MediaType], outputs: [MediaType])? {
        guard let library = try? FilterLibrary.load(),
            let found = library.c.avfilter_get_by_name(filter),
            found.pointee.flags & (AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS) == 0
        else { return nil }
        func types(isOutput: Int32) -> [MediaType] {
            let pads = isOutput == 0 ? found.pointee.inputs : found.pointee.outputs
            return (0..<library.c.avfilter_filter_pad_count(found, isOutput)).map {
                MediaType(library.c.avfilter_pad_get_type(pads, Int32($0)))
            }
        }
        return (types(isOutput: 0), types(isOutput: 1))
    }
}
