internal import Diagnostics
internal import LibAV
internal import Media

/// What of a copied track the output's container can't say, and what it keeps of how frames are shown.
struct CopyLosses {
    let track: TrackDescription
    let container: ContainerType

    /// Why a clean aperture is left.
    static let aperture = "libavformat 5.1 can't write it"

    /// Of packets as they are.
    func account(in reasons: inout Reasons) {
        accountForDisplay(in: &reasons)
        func left(_ item: String, _ reason: String) {
            reasons.account(for: item, of: track.index, .left, "\(container.name) \(reason)")
        }
        if track.sideData.contains(TrackDescription.hiddenBeginning), let reason = hiddenBeginning {
            left("hidden beginning", reason)
        }
        if track.hasAlphaBeside, !container.holdsAlphaBeside {
            left("alpha plane", "can't hold it beside \(track.codec)")
        }
        if !lostColor.isEmpty {
            left("colour (\(lostColor.joined(separator: ", ")))", "can't say it of \(track.codec)")
        }
        if let layout = track.channelLayout, layout.isSpecified,
            let other = container.otherLayout(of: layout, codec: track.codec)
        {
            left("channel layout \(layout)", "can't say it of \(track.codec): players take it for \(other)")
        }
    }

    /// Of a track whose edges are re-encoded, too.
    func accountForDisplay(in reasons: inout Reasons) {
        if track.transform?.isIdentity == false {
            reasons.account(for: "display matrix", of: track.index, .copied, "kept")
        }
        if track.cleanAperture != nil {
            reasons.account(for: "clean aperture", of: track.index, .left, Self.aperture)
        }
    }

    /// What only the source's container says of colour, and the output's can't.
    private var lostColor: [String] {
        guard track.mediaType == .video else { return [] }
        let (color, said) = (track.color, BitstreamTraits.of(track.codec).saidColor)
        let parts = [
            (ColorParts.primaries, color.primaries), (.transfer, color.transfer), (.matrix, color.matrix),
        ]
        let isWhole = parts.allSatisfy { $0.1 != nil }
        let isSaid = container.saysColor && (!container.saysColorAsAWhole || isWhole)
        var lost: [String] = []
        // That numbers are RGB, their format says.
        for (part, value) in parts where !isSaid && !said.contains(part) {
            if part != .matrix || !track.pixelFormat.isRGB, let value { lost.append(value) }
        }
        // Who isn't told takes the limited one.
        if !(isSaid && container.saysColorRange), !said.contains(.range), color.range == "pc",
            !track.pixelFormat.isRGB
        {
            lost.append("full range")
        }
        return lost
    }

    /// What a copy lets be heard that the source hides.
    private var hiddenBeginning: String? {
        if !container.hidesBeginning(ofCodec: track.codec) { return "can't say that it is not heard" }
        guard container.discardForm == .packetEnds, let samples = track.hiddenPartOfPacket else { return nil }
        return "hides whole packets alone: \(samples) samples of one are heard"
    }
}
