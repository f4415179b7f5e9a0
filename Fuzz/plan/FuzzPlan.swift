internal import CFuzzer
internal import Glibc
internal import PlanFuzzing

@main
enum FuzzPlan {
    static func main() {
        var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
                fuzzPlan(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }
}
