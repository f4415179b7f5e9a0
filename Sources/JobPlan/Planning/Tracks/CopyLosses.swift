internal import Diagnostics
internal import LibAV
internal import Media

/// Properties of a copied track that the output's container can't represent, and display properties that it keeps.
struct CopyLosses {
    let track: TrackDescription
    let container: ContainerType

    /// The reason why a clean aperture is dropped.
    static let aperture = "libavformat 5.1 can't write it"

    /// Adds ledger entries for a track whose packets are copied unchanged.
    func account(in reasons: inout Reasons) {
        accountForDisplay(in: &reasons)
        func drop(_ item: String, _ reason: String) {
            reasons.account(for: .named(item), of: track.index, .dropped, "\(container.name) \(reason)")
        }
        if track.has(.hiddenBeginning), let reason = hiddenBeginning {
            drop("hidden beginning", reason)
        }
        if track.hasSeparateAlpha, !container.model.supportsSeparateAlpha {
            drop("alpha plane", "can't store it for \(track.codec)")
        }
        if !lostColor.isEmpty {
            drop("colour (\(lostColor.joined(separator: ", ")))", "can't store it for \(track.codec)")
        }
        if let layout = track.channelLayout, layout.isSpecified,
            let other = container.otherLayout(of: layout, codec: track.codec)
        {
            drop("channel layout \(layout)", "can't store it for \(track.codec): players assume \(other)")
        }
    }

    /// Adds ledger entries for display properties, also for tracks with re-encoded edges.
    func accountForDisplay(in reasons: inout Reasons) {
        if track.transform?.isIdentity == false {
            reasons.account(for: .displayMatrix, of: track.index, .copied, "kept")
        }
        if track.cleanAperture != nil {
            reasons.account(for: .cleanAperture, of: track.index, .dropped, Self.aperture)
        }
    }

    /// Color properties that only the source's container states and that the output's container can't represent.
    private var lostColor: [String] {
        guard track.mediaType == .video else { return [] }
        let (color, bitstreamColor) = (track.color, BitstreamTraits.of(track.codec).storedColor)
        let parts = [
            (ColorParts.primaries, color.primaries), (.transfer, color.transfer), (.matrix, color.matrix),
        ]
        let isWhole = parts.allSatisfy { $0.1 != nil }
        let isStored = container.model.storesColor && (!container.model.requiresCompleteColor || isWhole)
        var lost: [String] = []
        // RGB is part of the pixel format, so its matrix is not lost.
        for (part, value) in parts where !isStored && !bitstreamColor.contains(part) {
            if part != .matrix || !track.pixelFormat.isRGB, let value { lost.append(value) }
        }
        // Players assume limited range if none is stated.
        if !(isStored && container.model.storesColorRange), !bitstreamColor.contains(.range),
            color.range == .full,
            !track.pixelFormat.isRGB
        {
            lost.append("full range")
        }
        return lost
    }

    /// The reason why samples that the source hides at the beginning become audible in a copy.
    private var hiddenBeginning: String? {
        if !container.hidesBeginning(ofCodec: track.codec) {
            return "can't mark it as hidden, so it becomes audible"
        }
        guard container.model.discardMarking == .packetEnds, let samples = track.hiddenPartOfPacket else {
            return nil
        }
        return "can hide whole packets only: \(samples) samples become audible"
    }
}
