import Testing

@testable import JobRun

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
        #expect(limits(["/sys/fs/cgroup/cpu.max": "10000 100000"]).processorCount == 1)
    }

    @Test(arguments: ["", "max", "max 100000", "-1 100000", "0 100000", "5", "x y", "5 0"])
    func otherTextIsNoLimit(_ text: String) {
        let group = limits([
            "/proc/self/cgroup": "0::/", "/sys/fs/cgroup/cpu.max": text, "/sys/fs/cgroup/memory.max": "x",
        ])
        #expect(group.processors == nil && group.memory == nil && group.processorCount >= 1)
    }
}
