@testable import JobPlan
import LibAV
@testable import Media
import Testing

@Suite struct SourceDescriptionTests {
    /// A source is described by its demuxer, the output of a job that hasn't run by its container.
    @Test(arguments: ["mov,mp4,m4a,3gp,3g2,mj2", "mp4", "mov", "m4a", "matroska,webm", "mkv", "webm", "flac"])
    func containers_areKnownByBothNames(_ container: String) {
        let isMatroska = ["matroska,webm", "mkv", "webm"].contains(container)
        let demuxer = SourceDescription.file(.audio(), container: container).demuxer
        #expect(demuxer.isMatroska == isMatroska && demuxer.isMovie == !(isMatroska || container == "flac"))
    }

    /// Every container that can be written can be read, and has the name of its demuxer's list.
    @Test(arguments: ContainerType.names) func writtenContainers_areAllowedSources(_ name: String) throws {
        let type = try #require(ContainerType.named(name))
        #expect(DemuxerModel.sourceNames.contains { type.model.demuxer.names.contains($0) })
        #expect(ContainerType.names(ofSourceIn: type.model.demuxer.name).contains(name))
    }

    /// libavformat's versions list different names for a demuxer; one that is known is sufficient.
    @Test func demuxers_areFoundByAnyName() {
        #expect(DemuxerModel.named("mov,mp4,m4a,3gp,3g2,mj2,new").isMovie)
        #expect(!DemuxerModel.named("hls").isMovie && DemuxerModel.named("hls").name == "hls")
    }
}
