import LibAV
import Testing

/// Limits of control groups, as the kernel describes them.
@Suite struct ControlGroupTests {
    private func limits(_ files: [String: String]) -> ControlGroup { ControlGroup { files[$0] } }

    @Test func leastLimitOfAllGroupsApplies() {
        let group = limits([
            "/proc/self/cgroup": "1:name=systemd:/x\n0::/pod/task\n",
            "/sys/fs/cgroup/pod/task/cpu.max": "max 100000\n",
            "/sys/fs/cgroup/pod/cpu.max": "250000 100000\n", "/sys/fs/cgroup/cpu.max": "800000 100000\n",
            "/sys/fs/cgroup/pod/task/memory.max": "2147483648\n", "/sys/fs/cgroup/pod/memory.max": "max\n",
        ])
        #expect(group.processors == 2.5 && group.memory == 2 << 30)
    }

    /// A part of a processor counts as one. Encoders see all processors, and get threads for those that may be used.
    @Test(
        arguments: [(8, 2.5, 3, 4), (8, 0.1, 1, 1), (8, nil, 8, 0), (2, 16, 2, 0), (0, nil, 1, 0)]
            as [(Int, Double?, Int, Int)])
    func encodersHaveThreadsForTheProcessorsInUse(
        _ visible: Int, _ limit: Double?, _ available: Int, _ ofX264: Int
    ) {
        let processors = Processors(visible: visible, limit: limit)
        #expect(processors.available == available && processors.isLimited == (ofX264 > 0))
        func threads(_ encoder: String, height: Int = 1080) -> Int {
            var configuration = EncoderConfiguration(
                encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
            configuration.height = height
            return configuration.withThreads(for: processors).threads
        }
        #expect(threads("libx264") == ofX264)
        #expect(threads("libx264", height: 16) == min(ofX264, 1))
        let limited = ofX264 > 0 ? available : 0
        #expect(threads("libvpx-vp9") == limited && threads("libaom-av1") == limited)
        #expect(threads("libx265") == 0 && threads("libsvtav1") == 0 && threads("prores_ks") == 0)
    }

    @Test(arguments: ["", "max", "max 100000", "-1 100000", "0 100000", "5", "x y", "5 0"])
    func otherTextIsNoLimit(_ text: String) {
        let group = limits([
            "/proc/self/cgroup": "0::/", "/sys/fs/cgroup/cpu.max": text, "/sys/fs/cgroup/memory.max": "x",
        ])
        #expect(group.processors == nil && group.memory == nil)
    }
}
