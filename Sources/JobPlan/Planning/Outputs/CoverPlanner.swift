internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of the source's covers that are kept. Covers are handled as metadata, although libavformat represents
/// them as streams.
struct CoverPlanner {
    let spec: MetadataSpec
    let container: ContainerType
    let source: SourceDescription
    let isFile: Bool
    /// Whether the output is fragmented. libavformat writes a cover of a fragmented file as a track, which players
    /// show as video.
    let isFragmented: Bool
    /// Whether the output has a cover from an image file, which replaces those of the source.
    let isReplaced: Bool

    /// Returns the source's tracks of the covers that are kept.
    func decide() -> Decision<[Int]> {
        var reasons = Reasons()
        let covers = source.tracks.filter(\.isAttachedPicture)
        for cover in covers {
            let isKept = isKept(cover)
            reasons.account(
                for: .track(cover), of: cover.index, isKept ? .copied : .dropped,
                isKept ? "kept" : reason(cover))
            if isKept { accountForTags(of: cover, in: &reasons) }
        }
        return Decision(covers.filter(isKept).map(\.index), reasons)
    }

    private var isWanted: Bool { isFile && spec.keep.contains("cover") }

    private func isKept(_ cover: TrackDescription) -> Bool {
        isWanted && !isReplaced && !isFragmented && container.canHoldCover(codec: cover.codec)
    }

    private func reason(_ cover: TrackDescription) -> String {
        if isReplaced { return "replaced by the cover that the job sets" }
        return isWanted
            ? "\(container.name) can't store it" + (isFragmented ? " in fragments" : "")
            : "the job doesn't keep it"
    }

    /// Adds ledger entries for the tags of a kept cover. Its title and comment are kept if the container stores covers
    /// as streams.
    private func accountForTags(of cover: TrackDescription, in reasons: inout Reasons) {
        for tag in cover.tags {
            let isKept = ["title", "comment"].contains(tag.key) && !container.model.attachesCovers
            reasons.account(
                for: .tag(tag.key), of: cover.index, isKept ? .copied : .dropped,
                isKept
                    ? "kept"
                    : TrackTagPlanner.isTechnical(tag.key)
                        ? "describes the source's container"
                        : "\(container.name) can't store it for a cover")
        }
    }
}
