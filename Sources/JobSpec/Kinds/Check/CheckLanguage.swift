/// The keys of `check`.
extension Language {
    static let check = MappingType(
        "check", "`check`",
        "Reads the source and writes nothing. The job fails if the source is damaged or truncated, or if an expectation is not met. `expect` is optional; `similarity` is not supported. With `range`, only that section is decoded, and `loudness`, `silence`, `black` and `decodes` are measured in it; `duration` and `frames` apply to the whole source and can't be combined with `range`. With `on_damage: skip`, damage is skipped, counted and reported. A source that passed is checked again only after the source, the job or a library changes; a URL is always checked again. A source must reach the duration that its header states within half a second; with `timing: precise` the header is not compared, so `expect: { duration }` is needed to detect truncation. Covers and attachments are not read, and compositions are not supported. Jobs whose `needs` names the check wait for it. Keys of outputs, such as `cut` and `destination`, are not supported.",
        keys: [
            KeyInfo(
                "decode", .boolean,
                "Decode video and audio. With `false`, only packets are read; `range` and the expectations `frames`, `loudness`, `silence`, `black` and `decodes` are then not supported.",
                default: "true")
        ])
}
