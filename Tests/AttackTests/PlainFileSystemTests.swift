import Foundation
import TestSupport
import Testing

/// Tests killed runs on file systems with fewer features: without extended attributes (ramfs), or also without links,
/// unnamed files or RENAME_NOREPLACE (exfat, vfat). The file system is mounted in a mount namespace, which requires
/// root. `Tests/Torture/filesystems` runs more tests there; `Tests/Torture/powercut` simulates power cuts.
@Suite(.serialized) struct PlainFileSystemTests {
    private static let script = #"""
        set -u
        kind=$1 program=$2 source=$3 place=$4 calls=$5
        case $kind in
            ramfs|tmpfs) mount -t $kind none "$place" ;;
            vfat) truncate -s 64M "$place.img" && mkfs.vfat "$place.img" >/dev/null && mount -o loop "$place.img" "$place" ;;
            exfat) truncate -s 64M "$place.img" && loop=$(losetup -f --show "$place.img") && mkfs.exfat "$loop" >/dev/null &&
                mount.exfat-fuse "$loop" "$place" >/dev/null 2>&1; losetup -d "$loop"; mountpoint -q "$place" ;;
        esac 2>/dev/null || { echo "no $kind"; exit 77; }
        # A FUSE server would outlive this script.
        trap 'cd /; umount "$place"' EXIT
        cd "$place" && cp "$source" a.mp4 || exit 1
        spec() {
            printf 'version: 1\njobs:\n'
            for job in one two; do
                printf '  %s: { asset: ./a.mp4, threads: 1, tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: %s } } ], destination: out/%s.mp4 }\n' $job "$1" $job
            done
        }
        whole() {
            for job in one two; do
                [ -e out/$job.mp4 ] || continue
                [ "$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames -of csv=p=0 out/$job.mp4)" = 13 ] || { echo "$1: out/$job.mp4 is not whole"; return 1; }
            done
        }
        failed=0 crf=20
        for call in $calls; do
            for number in 1 2 3 4 5 6 8 10 13; do
                # A setting changed, and the run is killed at the given call.
                crf=$((20 + (crf + 1) % 20)); spec $crf >jobs.yaml
                strace -f -qq -o /dev/null -e trace=$call -e inject=$call:signal=SIGKILL:when=$number "$program" run --jobs 1 jobs.yaml >/dev/null 2>&1
                whole "killed in $call $number" || failed=1
                forecast=$("$program" plan jobs.yaml 2>&1) || { echo "plan after $call $number: $forecast"; failed=1; }
                waiting=$(printf '%s\n' "$forecast" | grep -c '^  will run   ')
                said=$("$program" run --jobs 1 jobs.yaml 2>&1) || { echo "run after $call $number: $said"; failed=1; }
                whole "after $call $number" || failed=1
                again=$("$program" run --jobs 1 jobs.yaml 2>&1)
                case $again in *"2 of them up to date"*|*"nothing to do"*|*"all up to date"*) ;; *) echo "twice after $call $number: $again"; failed=1 ;; esac
                started=$(printf '%s\n' "$said" | grep -c ': started')
                [ "$started" = "$waiting" ] || { echo "$call $number: plan predicted $waiting, run started $started: $said"; failed=1; }
                left=$(ls -A out | grep -vc '^\(one\|two\)\.mp4$')
                [ "$left" = 0 ] || { echo "$call $number: $(ls -A out)"; failed=1; }
            done
        done
        exit $failed
        """#

    private func run(_ kind: String, _ calls: String) throws {
        guard getuid() == 0 else { return }
        let scratch = try folderWithSource()
        try FileManager.default.createDirectory(atPath: scratch.file("m"), withIntermediateDirectories: true)
        let result = try program(
            "unshare",
            [
                "-m", "bash", "-c", Self.script, "tandem", kind, TestPaths.tandem, scratch.file("a.mp4"),
                scratch.file("m"),
                calls,
            ])
        // The kernel doesn't support the file system or loop devices.
        if result.status == 77, kind == "vfat" || kind == "exfat" {
            return print("measured: no \(kind) here")
        }
        #expect(result.status == 0, "\(result.text) \(result.errors)")
    }

    /// File systems to test; with `TANDEM_ATTACK_ROUNDS`, all of them.
    private static let kinds =
        ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"] == nil
        ? ["ramfs", "exfat"] : ["ramfs", "exfat", "tmpfs", "vfat"]

    @Test(arguments: kinds) func killedRunsAreCompletedByTheNext(_ kind: String) throws {
        // The system calls for publishing depend on the file system; injecting a fault into a call that isn't made has
        // no effect.
        try run(kind, TestPaths.isQuick ? "fsync" : "fsync renameat2,linkat,link,rename pwrite64")
    }
}
