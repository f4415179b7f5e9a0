/// Conversion of quantities in other notations, for suggestions.
extension Quantity {
    /// Converts a size such as `720p`, `1280:720`, `1280×720` or `1280x-1` to the notation of job files; nil for other
    /// texts.
    static func sizeMeant(_ text: String) -> String? {
        if let lines = Int(text.dropLast()), text.lowercased().hasSuffix("p") {
            let size = "x\(lines)"
            return dimensions(size) == nil ? nil : size
        }
        let size = String(text.lowercased().filter { $0 != " " }.map { ":×*".contains($0) ? "x" : $0 })
            .replacing("x-1", with: "x").replacing("x-2", with: "x")
        guard size != text, let found = dimensions(size) else { return nil }
        // `16:9` is a ratio.
        return (found.width ?? 32) >= 32 && (found.height ?? 32) >= 32 ? size : nil
    }

    /// Converts a bit rate with a unit such as `kbps` or `Mbit/s`, or with a decimal comma, to the notation of job
    /// files; nil for other texts.
    static func bitRateMeant(_ text: String) -> String? {
        // `MB` denotes bytes.
        if text.hasSuffix("B") { return nil }
        let plain = text.lowercased().filter { $0 != " " }.replacing(",", with: ".")
        let number = plain.prefix { $0.isNumber || $0 == "." }
        let unit: String
        switch plain.dropFirst(number.count) {
        case "k", "kbps", "kbit/s", "kbits/s", "kb/s", "kbit", "kbits", "kb": unit = "k"
        case "m", "mbps", "mbit/s", "mbits/s", "mb/s", "mbit", "mbits", "mb": unit = "M"
        default: return nil
        }
        return bitRate(number + unit) == nil || number + unit == text ? nil : number + unit
    }

    /// Converts a frame rate with a unit or a decimal comma (`25fps`, `25p`, `23,976`) to the notation of job files;
    /// nil for other texts.
    static func frameRateMeant(_ text: String) -> String? {
        let plain = text.lowercased().filter { $0 != " " }.replacing(",", with: ".")
        let number =
            plain.hasSuffix("fps") ? plain.dropLast(3) : plain.hasSuffix("p") ? plain.dropLast() : plain[...]
        return frameRate(String(number)) == nil || number == text ? nil : String(number)
    }

    /// Converts a sample rate with the unit `k` to the unit `kHz`; nil for other texts.
    static func frequencyMeant(_ text: String) -> String? {
        guard text.last == "k" || text.last == "K" else { return nil }
        let rate = String(text.dropLast()) + "kHz"
        return frequency(rate) == nil ? nil : rate
    }
}
