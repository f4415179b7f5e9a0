"""Plays packages in headless Chromium by Media Source Extensions: browser.py FOLDER…

For each package, a page reads `master.m3u8` and its playlists, appends all segments of each rendition, then segments of
alternating renditions, so that players' changes at every boundary are covered. It checks that `buffered` has no gaps, that
it ends where the playlist does, and that Chromium decodes as many frames as ffprobe counts. Renditions whose codec
Chromium doesn't support are listed as skipped. Prints a line for each series, and `all series play`."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

PAGE = """<!doctype html><video id=v muted></video><script>
const lines = async path => (await (await fetch(path)).text()).split("\\n");
const attribute = (line, name) => {
  const found = line.match(new RegExp("[:,]" + name + '=("([^"]*)"|[^,]*)'));
  return found ? found[2] ?? found[1] : undefined;
};
const files = new Map();
async function bytes(path, range) {
  if (!files.has(path)) files.set(path, await (await fetch(path)).arrayBuffer());
  if (!range) return files.get(path);
  const [length, offset] = range.split("@").map(Number);
  return files.get(path).slice(offset, offset + length);
}
async function playlist(path) {
  const base = path.slice(0, path.lastIndexOf("/") + 1), result = {path, segments: []};
  let duration, range;
  for (const line of await lines(path)) {
    if (line.startsWith("#EXT-X-MAP:")) result.map = [base + attribute(line, "URI"), attribute(line, "BYTERANGE")];
    else if (line.startsWith("#EXTINF:")) duration = parseFloat(line.slice(8));
    else if (line.startsWith("#EXT-X-BYTERANGE:")) range = line.slice(17);
    else if (line && !line.startsWith("#")) { result.segments.push({path: base + line, range, duration}); range = undefined; }
  }
  return result;
}
const event = (target, name) => new Promise((done, failed) => {
  target.addEventListener(name, done, {once: true});
  target.addEventListener("error", () => failed(new Error(name + ": " + (target.error?.message ?? "error"))), {once: true});
});
// Appends segment i of renditions[i % n] for all i, and plays the result.
async function play(name, renditions, type) {
  if (!MediaSource.isTypeSupported(type)) return {name, type, skipped: true};
  const video = document.getElementById("v"), source = new MediaSource();
  video.src = URL.createObjectURL(source);
  await event(source, "sourceopen");
  const buffer = source.addSourceBuffer(type);
  const append = async data => { buffer.appendBuffer(data); await event(buffer, "updateend"); };
  let end = 0, last;
  for (let i = 0; i < renditions[0].segments.length; i++) {
    const rendition = renditions[i % renditions.length], segment = rendition.segments[i];
    if (rendition !== last) await append(await bytes(...rendition.map));
    await append(await bytes(segment.path, segment.range));
    last = rendition;
    end += segment.duration;
  }
  const ranges = [];
  for (let i = 0; i < buffer.buffered.length; i++) ranges.push([buffer.buffered.start(i), buffer.buffered.end(i)]);
  source.endOfStream();
  if (ranges.length === 1) {
    video.playbackRate = 16;
    const ended = event(video, "ended");
    const late = new Promise((_, failed) => setTimeout(() => failed(new Error("playback doesn't end")), 1000 * (end + 10)));
    await Promise.race([video.play().then(() => ended), late]);
  }
  return {name, type, ranges, end, start: renditions[0].start ?? 0, segments: renditions[0].segments.length, frames: video.getVideoPlaybackQuality().totalVideoFrames};
}
// Presentation times of the first segments, by representation, from the MPD.
async function starts() {
  const mpd = new DOMParser().parseFromString((await lines(folder + "manifest.mpd")).join("\\n"), "text/xml"), times = {};
  for (const representation of mpd.querySelectorAll("Representation")) {
    const template = representation.querySelector("SegmentTemplate") ?? representation.parentNode.querySelector("SegmentTemplate");
    const first = template?.querySelector("S");
    if (first) times[representation.id] = first.getAttribute("t") / template.getAttribute("timescale");
  }
  return times;
}
async function series() {
  const master = await lines(folder + "master.m3u8"), videos = [], audios = [], results = [], times = await starts();
  for (const [i, line] of master.entries()) {
    const codecs = (attribute(line, "CODECS") ?? "").split(",");
    if (line.startsWith("#EXT-X-STREAM-INF:")) {
      const list = attribute(line, "RESOLUTION") ? videos : audios;
      if (!list.some(other => other.uri === master[i + 1])) list.push({uri: master[i + 1], codec: codecs[0]});
      for (const audio of audios) if (audio.group && audio.group === attribute(line, "AUDIO")) audio.codec ??= codecs.at(-1);
    } else if (line.startsWith("#EXT-X-MEDIA:TYPE=AUDIO")) {
      audios.push({uri: attribute(line, "URI"), group: attribute(line, "GROUP-ID")});
    }
  }
  for (const [kind, list] of [["video", videos], ["audio", audios]]) {
    for (const item of list) {
      item.playlist = await playlist(folder + item.uri);
      item.playlist.start = times[item.uri.split("/")[0]];
    }
    for (const item of list) results.push([item.uri, [item.playlist], `${kind}/mp4; codecs="${item.codec}"`]);
    const same = list.filter(item => item.codec.split(".")[0] === list[0].codec.split(".")[0]);
    if (same.length > 1) {
      const mixed = [...same.map(item => item.playlist)];
      results.push([`${kind} alternating`, mixed, `${kind}/mp4; codecs="${list[0].codec}"`]);
      results.push([`${kind} alternating backwards`, mixed.reverse(), `${kind}/mp4; codecs="${list[0].codec}"`]);
    }
  }
  return results;
}
(async () => {
  const results = [];
  try {
    for (const [name, renditions, type] of await series()) {
      try { results.push(await play(name, renditions, type)); } catch (error) { results.push({name, type, error: String(error)}); }
    }
  } catch (error) { results.push({name: "manifest", error: String(error)}); }
  await fetch("/result", {method: "POST", body: JSON.stringify(results)});
})();
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path == "/":
            return self.reply(PAGE.replace("<script>", "<script>const folder = '/media/';\n", 1).encode(), "text/html")
        file = os.path.normpath(os.path.join(self.server.folder, path.removeprefix("/media/")))
        if not file.startswith(self.server.folder) or not os.path.isfile(file):
            return self.send_error(404)
        with open(file, "rb") as data:
            self.reply(data.read(), "application/octet-stream")

    def do_POST(self):
        self.server.results = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply(b"", "text/plain")
        self.server.finished.set()

    def reply(self, data, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def frames(folder, uri):
    """The number of video frames of a rendition, by ffprobe."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries",
               "stream=nb_read_packets", "-of", "default=nw=1:nk=1", os.path.join(folder, uri)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0])


def judge(folder):
    """Plays a package, prints a line for each series, and returns the number of faults and of series that play."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.folder, server.results, server.finished = os.path.abspath(folder), None, threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
             "--autoplay-policy=no-user-gesture-required", "--no-first-run", f"--user-data-dir={profile}",
             f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.finished.wait(120)
        browser.terminate()
        browser.wait()
        server.shutdown()
    faults = played = count = 0
    counts = set()
    for result in server.results or [{"name": "page", "error": "no result within 120 s"}]:
        name, problems = f"{folder}: {result['name']}", []
        if result.get("skipped"):
            print(f"{name}: skipped, Chromium doesn't support {result['type']}")
            continue
        if "error" in result:
            problems.append(result["error"])
        else:
            ranges, end = result["ranges"], result["end"]
            start = result["start"]
            if len(ranges) != 1:
                problems.append(f"gaps: {ranges}")
            # Chromium rounds to microseconds. A decoder's packets may begin before 0 or end after the edit list.
            elif abs(ranges[0][0] - start) > 0.002 or abs(ranges[0][1] - start - end) > 0.022:
                problems.append(f"buffered {ranges[0]}, but the playlist lasts {end} s from {start} s")
            if result["type"].startswith("video") and len(ranges) == 1:
                if result["name"].endswith(".m3u8"):
                    count = frames(folder, result["name"])
                    counts.add(count)
                # Alternating renditions with different frame rates have another number of frames.
                if (result["name"].endswith(".m3u8") or len(counts) == 1) and result["frames"] != count:
                    problems.append(f"{result['frames']} frames decoded, {count} by ffprobe")
        if problems:
            faults += 1
            print(f"{name}: {'; '.join(problems)}")
        else:
            played += 1
            print(f"{name}: {result['segments']} segments, {result['frames']} frames, {result['ranges'][0]}")
    return faults, played


outcomes = [judge(folder) for folder in sys.argv[1:]]
if any(faults for faults, _ in outcomes) or not all(played for _, played in outcomes):
    sys.exit(1)
print("all series play")
