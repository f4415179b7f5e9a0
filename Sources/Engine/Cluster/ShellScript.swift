internal import Diagnostics

/// Scripts for POSIX shells.
enum ShellScript {
    /// Returns a command line of quoted words.
    static func line(_ words: [String]) -> String { words.map(SafeText.singleQuoted).joined(separator: " ") }

    /// Returns lines that run a command, to which they forward SIGTERM and SIGINT, and wait for its end. Then `status` is its
    /// exit status, and `stopped` isn't empty if there was a signal. `command`: a quoted command line.
    static func forwardingSignals(to command: String) -> String {
        #"""
        stopped= runner=
        trap 'stopped=1; [ -z "$runner" ] || kill -TERM "$runner" 2>/dev/null' TERM INT
        \#(command) &
        runner=$!
        # A signal may have arrived before the command was started.
        [ -z "$stopped" ] || kill -TERM "$runner" 2>/dev/null
        wait "$runner"
        status=$?
        # A signal ends `wait` before the process has ended.
        while kill -0 "$runner" 2>/dev/null; do
            wait "$runner"
            status=$?
        done
        """#
    }
}
