# write_readme_job FOLDER: writes the first job file of the README, and a job that generates its source.
write_readme_job() {
    awk '/^```yaml/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md >"$1/jobs.yaml"
    cat >"$1/source.yaml" <<'END'
version: 1
jobs:
  source:
    asset: { pattern: smpte, size: 1280x720, frame_rate: 25, duration: 5s, tone: 1kHz }
    tracks: [ { video: first, encode: { codec: h264 } }, { audio: first, encode: { codec: aac } } ]
    destination: talk.mov
END
}
