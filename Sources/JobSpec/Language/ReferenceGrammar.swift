/// The parts of the reference that the key tables don't contain: value syntax, variables, track selection, precedence
/// and exit statuses. A test decodes each example.
enum ReferenceGrammar {
    /// Times: syntax and meaning.
    static let times = [
        ("90.5", "seconds; `90.5s` is the same"), ("1500ms", "milliseconds"),
        ("1:30.5", "minutes and seconds"),
        ("00:01:30.500", "hours, minutes and seconds"),
        (
            "250f",
            "frame 250 of the first selected video track, counted from 0, or as a length 250 of its frames"
        ),
        ("25%", "a share of the source's duration"), ("-5s", "before the end"), ("end", "the end"),
        ("chapter:2", "the start of the second chapter"),
    ]

    /// Quantities: kind, syntax, meaning.
    static let quantities = [
        ("bit rate", "128k", "128,000 bits a second"), ("bit rate", "2.5M", "2,500,000 bits a second"),
        ("bit rate", "96000", "bits a second; a number too small to be meant so is an error"),
        ("size in bytes", "50MB", "50,000,000 bytes"), ("size in bytes", "50MiB", "52,428,800 bytes"),
        ("frequency", "44100", "Hz"), ("frequency", "44.1kHz", "the same"),
        ("frame rate", "25", "frames a second"), ("frame rate", "30000/1001", "exactly that"),
        ("frame rate", "29.97", "30000/1001: the usual rates are taken as what they stand for"),
        ("dimensions", "1280x720", "width and height"), ("dimensions", "1280x", "the height keeps the shape"),
        ("dimensions", "x720", "the width keeps the shape"), ("decibels", "-18dB", "a gain or a level"),
    ]

    /// Variables: name, meaning, scope.
    static let variables = [
        ("name", "of `vars`, or of `--set name=value`, which wins", "everywhere"),
        ("env.NAME", "of the environment; refused under `--untrusted`", "everywhere"),
        ("job", "the id of the job", "in a job"),
        ("index", "the number of this run of it, from 1", "in a job"),
        ("output", "the id of the output", "under `outputs`, and in what is merged under them"),
        ("matrix.key", "this run's value of the matrix", "in a job with `matrix`"),
        ("asset.id", "the id of its asset", "in a job, after `asset`"),
        ("asset.stem", "the name of the source without folder and extension", "in a job, after `asset`"),
        ("asset.ext", "its extension without the dot", "in a job, after `asset`"),
        ("asset.dir", "its folder", "in a job, after `asset`"),
    ]

    /// Exit statuses in the order of precedence, with their meanings.
    static let statuses = [
        (130, "interrupted"), (143, "terminated"), (64, "wrong usage"),
        (
            3,
            "the job files are wrong, and nothing was started. `validate`: errors that the files alone reveal. `plan`: also errors that depend on the sources (missing source, no such track, range beyond the end, existing destination, collision, an expectation that can't be met). `run`: the errors of `validate`, collisions, and a destination that is a source"
        ),
        (
            4,
            "this machine can't: an encoder is missing, the state can't be written, the sandbox that is required can't be had"
        ),
        (
            1,
            "a job failed or was rejected (source missing or damaged, destination exists, an expectation that can't be met, no space, timeout, crash); the others ran"
        ),
        (5, "nothing worse than a failed expectation"),
        (0, "all is well, warnings among it unless `--warnings-as-errors`"),
    ]

    static var text: String {
        """

        ## How values are written

        A value is read from its text: `on`, `yes`, `1:30` and `012` are what they look like, never what YAML 1.1 makes of them. Quotes
        are needed where YAML itself would read something else: `"${height}"` inside `{ }`, `"*.mp4"`, text with `: ` or ` #`.
        Names of assets, settings and jobs begin with a letter or `_`; letters, digits, `_` and `-` follow. Keys that begin with
        `x-` are yours wherever keys are fixed. Anchors, aliases and `<<` work.

        **Times**, exact, from the start of the source as it is shown:

        \(table(["written", "means"], times.map { ["`\($0.0)`", $0.1] }))
        **Quantities**; a space may stand before the unit, which is read in either case where nothing else could be meant:

        \(table(["what", "written", "means"], quantities.map { [$0.0, "`\($0.1)`", $0.2] }))
        ## Variables

        `${name}` works inside any value. `${name:-text}` is `text` where there is no such name or it is empty. `$${` is `${` itself. The
        type is read afterwards, so `crf: "${crf}"` is a number.

        \(table(["name", "what it is", "known"], variables.map { ["`${\($0.0)}`", $0.1, $0.2] }))
        ## Which tracks a rule takes

        `first` is the first of its kind, a number the one at that place from 0, `all` every one. A mapping takes those of which
        everything that it says holds. Covers are no video tracks, and a track of an unknown format is taken by its number alone. A selection
        that matches nothing is an error unless the rule is `optional`; two rules may take the same track, and each reads all of it.
        The output's tracks come in the order of the rules, those of one rule in the source's.

        ## What wins

        1. `--set` over `vars`, `vars` of the file over those of its `include`s, later includes over earlier ones.
        2. `settings`, `assets` and `defaults` of the file over those of its `include`s, by name.
        3. Short forms are spelt out first: a destination that is a path is `{ path: … }`.
        4. `defaults` go under every job: mappings key by key; lists and single values are replaced as a whole.
        5. What a job with `outputs` says under their keys goes under each of them in the same way: `destination: { if_exists: replace }`,
           or `destination: "out/${output}.mp4"`.
        6. What stands beside `use` over the named settings; what excludes something there takes its place (`bitrate` their `crf`).

        Paths are relative to the file that they stand in.

        ## Exit status

        The first that applies:

        \(table(["status", "means"], statuses.map { ["\($0.0)", $0.1] }))
        """
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }
}
