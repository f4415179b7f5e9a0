internal import ArgumentParser
internal import LibAV

/// What every command that reads media takes.
struct NetworkArguments: ParsableArguments {
    @Flag(help: "Sources may be http and https URLs; nothing is fetched otherwise.")
    var allowNetwork = false

    /// Opens the gate for this process, where that was asked for.
    func apply() { if allowNetwork { NetworkAccess.allow() } }
}
