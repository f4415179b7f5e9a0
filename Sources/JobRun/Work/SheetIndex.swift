internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import Media

/// The WebVTT file that says which part of a sheet belongs to which time, as players read it for what they show above their time line:
/// each cue is the sheet's name with a media fragment (`#xywh`).
struct SheetIndex {
    let images: ImagesPlan
    let sheet: ImagesPlan.Sheet
    /// Where the sheet lies.
    let file: String
    /// The size of a still.
    let width: Int
    let height: Int

    /// What the file says.
    var text: String {
        let name = Self.escaped(file.pathParts.last ?? "")
        var text = "WEBVTT\n"
        for (index, still) in images.stills.enumerated() {
            let start = index == 0 ? .zero : still.time
            let end =
                index + 1 < images.stills.count
                ? images.stills[index + 1].time : max(images.duration, still.time)
            // The last frame is asked for at the very end.
            guard end > start else { continue }
            let (x, y) = (index % sheet.columns * width, index / sheet.columns * height)
            text +=
                "\n\(ClockText(start).text(":")) --> \(ClockText(end).text(":"))\n\(name)#xywh=\(x),\(y),\(width),\(height)\n"
        }
        return text
    }

    /// A name as part of an address: what has a meaning there is written by its bytes.
    private static func escaped(_ name: String) -> String {
        name.utf8.reduce(into: "") { text, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
    }
}
