/// The parts of the reference that the key tables don't contain: value syntax, variables, track selection, precedence
/// and exit statuses. A test decodes each example.
enum ReferenceGrammar {
    /// Times: syntax and meaning.
    static let times = [
        ("90.5", "seconds, the same as `90.5s`"), ("1500ms", "milliseconds"),
        ("1:30.5", "minutes and seconds"),
        ("00:01:30.500", "hours, minutes and seconds"),
        (
            "250f",
            "frame 250 of the first selected video track, counted from 0; as a duration, 250 frames"
        ),
        ("25%", "a percentage of the source's duration"), ("-5s", "before the end"), ("end", "the end"),
        ("chapter:2", "the start of the second chapter"),
    ]

    /// Quantities: kind, syntax, meaning.
    static let quantities = [
        ("bit rate", "128k", "128,000 bits per second"), ("bit rate", "2.5M", "2,500,000 bits per second"),
        ("bit rate", "96000", "bits per second; an implausibly low number is an error"),
        ("size in bytes", "50MB", "50,000,000 bytes"), ("size in bytes", "50MiB", "52,428,800 bytes"),
        ("frequency", "44100", "Hz"), ("frequency", "44.1kHz", "the same"),
        ("frame rate", "25", "frames per second"), ("frame rate", "30000/1001", "exact fraction"),
        ("frame rate", "29.97", "30000/1001: rounded standard rates stand for the exact ones"),
        ("dimensions", "1280x720", "width and height"),
        ("dimensions", "1280x", "width; the height keeps the aspect ratio"),
        ("dimensions", "x720", "height; the width keeps the aspect ratio"),
        ("decibels", "-18dB", "a gain or a level"),
    ]

    /// Variables: name, meaning, scope.
    static let variables = [
        ("name", "of `vars`, or of `--set name=value`, which takes precedence", "everywhere"),
        ("env.NAME", "of the environment; not available with `--untrusted`", "everywhere"),
        ("job", "the id of the job", "in a job"),
        ("index", "the number of the job instance, from 1", "in a job"),
        ("output", "the id of the output", "under `outputs`, and in keys that are merged into them"),
        ("matrix.key", "the job instance's value of the matrix", "in a job with `matrix`"),
        ("asset.id", "the id of the job's asset", "in a job, after `asset`"),
        ("asset.stem", "the name of the source without folder and extension", "in a job, after `asset`"),
        ("asset.ext", "the source's extension without the dot", "in a job, after `asset`"),
        ("asset.dir", "the source's folder", "in a job, after `asset`"),
        (
            "track.index", "the track's index among those of its kind, from 0",
            "in the `destination` of an output with `tracks`, and beside it in `language`, `title` and `metadata`"
        ),
        ("track.language", "the track's language code, `und` if the source states none", "as `track.index`"),
        ("track.codec", "FFmpeg's name of the track's codec", "as `track.index`"),
    ]

    /// Returns the sections. `statuses` are the exit statuses in order of precedence, with their meanings.
    static func sections(statuses: [(status: Int32, meaning: String)]) -> [ReferenceSection] {
        [
            ReferenceSection(
                topic: "values", title: "Values", summary: "How values are read, and what needs quotes.",
                blocks: [
                    .paragraph(
                        """
                        Values are read from their text: `on`, `yes`, `1:30` and `012` are not converted as in YAML 1.1. Quotes
                        are needed where the text has another meaning in YAML: `"${height}"` inside `{ }`, `"*.mp4"`, text with `: ` or ` #`.
                        Names of assets, settings and jobs start with a letter or `_`, followed by letters, digits, `_` and `-`. Keys that start with
                        `x-` are ignored wherever keys are fixed. Anchors, aliases and `<<` are supported.
                        """)
                ]),
            ReferenceSection(
                topic: "times", title: "Times", summary: "Times and durations: 90.5, 1:30.5, 250f, 25%.",
                blocks: [
                    .paragraph("Times are exact, and count from the start of the source's presentation:"),
                    .table(["written", "means"], rows: times.map { ["`\($0.0)`", $0.1] }),
                ]),
            ReferenceSection(
                topic: "quantities", title: "Quantities",
                summary: "Bit rates, sizes, frequencies and levels.",
                blocks: [
                    .paragraph(
                        "Quantities may have a space before the unit, whose case is ignored where it is unambiguous:"
                    ),
                    .table(
                        ["written", "what", "means"], rows: quantities.map { ["`\($0.1)`", $0.0, $0.2] }),
                ]),
            ReferenceSection(
                topic: "variables", title: "Variables", summary: "Substitution of `${name}` in values.",
                blocks: [
                    .paragraph(
                        """
                        `${name}` works inside any value. `${name:-text}` is `text` if the variable is not defined or empty. `$${` is a literal `${`. The
                        type is determined after substitution, so `crf: "${crf}"` is a number.
                        """),
                    .table(
                        ["name", "value", "available"],
                        rows: variables.map { ["`${\($0.0)}`", $0.1, $0.2] }),
                ]),
            ReferenceSection(
                topic: "selection", title: "Track selection", summary: "Which tracks a rule selects.",
                blocks: selection.map { .paragraph($0) }),
            ReferenceSection(
                topic: "patterns", title: "Patterns", summary: "`*`, `?`, `[…]`, `**` and `{…}` in paths.",
                blocks: patterns.map { .paragraph($0) }),
            ReferenceSection(
                topic: "precedence", title: "Precedence", summary: "Which of several values is used.",
                blocks: [
                    .steps(precedence), .paragraph("Paths are relative to the file that contains them."),
                ]),
            ReferenceSection(
                topic: "exit-status", title: "Exit status", summary: "Exit statuses of the program.",
                blocks: [
                    .paragraph("The first one that applies:"),
                    .table(["status", "means"], rows: statuses.map { ["\($0.status)", $0.meaning] }),
                ]),
        ]
    }

    private static let selection = [
        """
        `first` selects the first track of the kind, a number the track at that index from 0, `all` every track. A mapping selects the tracks of which
        all its properties match. Covers are not video tracks, and a track of an unknown format is selected only by its index. A selection
        without a match is an error unless the rule is `optional`; two rules may select the same track.
        """,
        """
        A list selects by the first of its entries that matches a track: `audio: [ { language: fra }, { language: eng }, first ]` selects all French tracks,
        or without one all English tracks, or the first track. The entries are in order of preference; the list doesn't combine them. An entry after
        `first` or `all`, or after one that matches the same tracks, is an error, because it is never used. The plan notes the entry that matches.
        """,
        """
        `subtitle: { asset: captions }` selects the tracks of another file, all of them or those with other properties of the mapping: a path, or the id of
        an asset that is a file. `*` and `?` are ordinary characters of the path. Time 0 of the file is that of the source; the job's ranges apply to it,
        and it ends with the source. `optional: true` omits the track if the file doesn't exist. `when` concerns the source of the job, `copy: { where }` the
        tracks of the file. The file can't be an output of the same call.
        """,
        "The output's tracks are in the order of the rules; the tracks of one rule are in the source's order.",
    ]

    private static let patterns = [
        """
        A `path` with `*`, `?` or `[…]`, and every entry of `paths`, is a pattern: `*` and `?` match any characters or one character of a name, `[a-z]` one
        of a set, `[!a-z]` one outside of it, `**` any number of folders, `{wav,flac}` each of the alternatives. `*`, `?`, `[…]` and `**` don't match names that
        start with a dot. Brackets around a special character make it literal: `[[]`, `[{]`. Braces without a comma are ordinary characters, as are all
        braces of a `path` without `*`, `?` and `[…]`.
        """,
        """
        The files of `paths` are in the order of the list, those of a pattern in the order of their names, folder by folder; each file is used once. An entry
        without `*`, `?` and `[…]` is the path of a file, which must exist; `except` doesn't omit it. Patterns of `except` are compared with paths as they are
        written, without following links.
        """,
    ]

    private static let precedence = [
        "`--set` over `vars`, `vars` of the file over those of its `include`s, later includes over earlier ones.",
        "`settings`, `assets` and `defaults` of the file over those of its `include`s, by name.",
        "Short forms are expanded first: a destination that is a path becomes `{ path: … }`.",
        "Every job is merged over `defaults`: mappings key by key; lists and single values are replaced.",
        """
        Keys of outputs in a job with `outputs` are merged under each output in the same way: `destination: { if_exists: replace }`,
        or `destination: "out/${output}.mp4"`.
        """,
        "Keys beside `use` over the named settings; a key that can't be combined with one of theirs replaces it (`bitrate` replaces `crf`).",
    ]
}
