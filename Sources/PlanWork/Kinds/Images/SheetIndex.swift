internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import Media

/// The WebVTT file that maps times to images of a sheet, from which players show thumbnails above their time line. Each
/// cue is the sheet's name with a media fragment (`#xywh`).
struct SheetIndex {
    let images: ImagesPlan
    let sheet: ImagesPlan.Sheet
    /// Path of the sheet.
    let file: String
    /// Width of one image in pixels.
    let width: Int
    let height: Int

    var text: String {
        let name = PercentEncoding.component((file.pathParts.last ?? "").utf8)
        var text = "WEBVTT\n"
        for (index, still) in images.stills.enumerated() {
            let start = index == 0 ? .zero : still.time
            let end =
                index + 1 < images.stills.count
                ? images.stills[index + 1].time : max(images.duration, still.time)
            // The last frame may be requested at the end of the media, where its cue would be empty.
            guard end > start else { continue }
            let (x, y) = (index % sheet.columns * width, index / sheet.columns * height)
            text +=
                "\n\(ClockText(start).text(":")) --> \(ClockText(end).text(":"))\n\(name)#xywh=\(x),\(y),\(width),\(height)\n"
        }
        return text
    }
}
