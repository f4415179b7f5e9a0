"""Reads a package with PyPI's m3u8 and mpegdash, and compares HLS with DASH: judge.py [--manifests] FOLDER

Checks that every referenced file and byte range exists (not with --manifests), that both formats have the same renditions,
segments and durations, and the rules of RFC 8216bis that these libraries don't check. Prints `2 formats agree`."""

import os
import sys
from fractions import Fraction

import m3u8
from mpegdash.parser import MPEGDASHParser

problems = []


def check(condition, text):
    if not condition:
        problems.append(text)


def size(folder, path, whole):
    """The size of a referenced file; None if only manifests exist."""
    file = os.path.join(folder, path)
    check(not whole or os.path.isfile(file), f"missing: {path}")
    return os.path.getsize(file) if whole and os.path.isfile(file) else None


def inside(folder, path, byterange, whole):
    """Checks a byte range of a file, and returns it as (offset, length); None without a range."""
    available = size(folder, path, whole)
    if not byterange:
        return None
    length, offset = (int(part) for part in byterange.split("@"))
    check(available is None or offset + length <= available, f"{path}: {byterange} is behind the end")
    return offset, length


def read_playlist(folder, path, whole):
    """Returns the durations of a media playlist, and its bytes by segment."""
    playlist = m3u8.load(os.path.join(folder, path))
    base = os.path.dirname(path)
    check(playlist.is_endlist and playlist.playlist_type == "vod", f"{path}: not complete")
    check(not playlist.is_variant and len(playlist.segments) > 0, f"{path}: no segments")
    segments = []
    for segment in playlist.segments:
        check(int(segment.duration + 0.5) <= playlist.target_duration, f"{path}: {segment.duration} s is too long")
        target = os.path.join(base, segment.uri)
        segments.append((Fraction(str(segment.duration)), target, inside(folder, target, segment.byterange, whole)))
    for section in playlist.segment_map:
        inside(folder, os.path.join(base, section.uri), section.byterange, whole)
    return playlist, segments


def read_hls(folder, whole):
    """Returns the segments of all renditions by id."""
    master = m3u8.load(os.path.join(folder, "master.m3u8"))
    check(master.is_variant, "master.m3u8: not a list of variants")
    renditions, groups = {}, {}
    targets = set()

    def add(uri, subtitles=False):
        playlist, segments = read_playlist(folder, uri, whole)
        renditions[uri.split("/")[0]] = segments
        if not subtitles:
            targets.add(playlist.target_duration)

    for media in master.media:
        groups.setdefault((media.type, media.group_id), []).append(media)
        add(media.uri, media.type == "SUBTITLES")
    for key, members in groups.items():
        check(len({media.name for media in members}) == len(members), f"{key}: names repeat")
        check(sum(media.default == "YES" for media in members) <= 1, f"{key}: several defaults")
        check(all(media.autoselect == "YES" for media in members if media.default == "YES"), f"{key}: default not selectable")
    sets = [{(media.name, media.language) for media in members} for key, members in groups.items() if key[0] == "AUDIO"]
    check(all(sets[0] <= other for other in sets[1:]), "audio groups lack members of the first one")
    for variant in master.playlists:
        information = variant.stream_info
        check(information.bandwidth >= information.average_bandwidth > 0, f"{variant.uri}: bandwidths")
        check(bool(information.codecs), f"{variant.uri}: no codecs")
        if information.audio:
            check(("AUDIO", information.audio) in groups, f"{variant.uri}: no group {information.audio}")
        if information.subtitles:
            check(("SUBTITLES", information.subtitles) in groups, f"{variant.uri}: no group {information.subtitles}")
        add(variant.uri)
    for images in master.image_playlists:
        base = os.path.dirname(images.uri)
        playlist = m3u8.load(os.path.join(folder, images.uri))
        check(playlist.is_images_only and len(playlist.segments) == len(playlist.data["tiles"]) == 1, f"{images.uri}: not one image")
        for segment, tiles in zip(playlist.segments, playlist.data["tiles"]):
            same = tiles["resolution"] == "%dx%d" % images.image_stream_info.resolution
            check(same, f"{images.uri}: sizes of tiles differ")
            columns, rows = (int(part) for part in tiles["layout"].split("x"))
            check(columns * rows * tiles["duration"] >= segment.duration, f"{images.uri}: tiles are missing at the end")
            size(folder, os.path.join(base, segment.uri), whole)
            renditions[base] = None
    for keyframes in master.iframe_playlists:
        playlist, segments = read_playlist(folder, keyframes.uri, whole)
        check(playlist.is_i_frames_only, f"{keyframes.uri}: not only keyframes")
        complete = renditions[keyframes.uri.split("/")[0]]
        check([segment[0] for segment in segments] == [segment[0] for segment in complete], f"{keyframes.uri}: durations")
        for frame, segment in zip(segments, complete):
            start, length = segment[2] or (0, None)
            check(frame[1] == segment[1] and frame[2][0] >= start, f"{keyframes.uri}: keyframe before its segment")
            check(length is None or frame[2][0] + frame[2][1] <= start + length, f"{keyframes.uri}: keyframe behind its segment")
    check(len(targets) == 1, f"target durations differ: {targets}")
    return renditions


def read_dash(folder, whole):
    """Returns the durations of all representations' segments by id; None for representations with an index."""
    mpd = MPEGDASHParser.parse(os.path.join(folder, "manifest.mpd"))
    check(mpd.type == "static" and len(mpd.periods) == 1, "manifest.mpd: not one static period")
    representations = {}
    for group in mpd.periods[0].adaptation_sets:
        for representation in group.representations:
            check(representation.bandwidth > 0, f"{representation.id}: no bandwidth")
            templates = representation.segment_templates or group.segment_templates
            if not templates:
                path = representation.base_urls[0].base_url_value
                available = size(folder, path, whole)
                representations[representation.id] = None
                for base in representation.segment_bases or []:
                    first, last = (int(part) for part in base.index_range.split("-"))
                    end = int(base.initializations[0].range.split("-")[1])
                    check(end + 1 == first, f"{path}: the index isn't behind the initialization section")
                    check(available is None or last < available, f"{path}: no index")
                    if available is not None:
                        with open(os.path.join(folder, path), "rb") as file:
                            file.seek(first)
                            box = file.read(last + 1 - first)
                        check(box[4:8] == b"sidx" and int.from_bytes(box[:4], "big") == len(box), f"{path}: no sidx")
                continue
            template = templates[0]
            if group.content_type == "image":
                path = template.media.replace("$RepresentationID$", representation.id)
                size(folder, path.replace("$Number%05d$", f"{template.start_number:05}"), whole)
                tiles = representation.essential_properties[0]
                check(tiles.scheme_id_uri.endswith("thumbnail_tile") and "x" in tiles.value, f"{representation.id}: no tiles")
                representations[representation.id] = None
                continue
            size(folder, template.initialization.replace("$RepresentationID$", representation.id), whole)
            durations, next_time = [], None
            for run in template.segment_timelines[0].Ss:
                check(next_time in (None, run.t), f"{representation.id}: gap at {run.t}")
                durations += [Fraction(run.d, template.timescale)] * (1 + (run.r or 0))
                next_time = run.t + run.d * (1 + (run.r or 0))
            for number in range(len(durations)):
                path = template.media.replace("$RepresentationID$", representation.id)
                size(folder, path.replace("$Number%05d$", f"{number + template.start_number:05}"), whole)
            representations[representation.id] = durations
    return representations


def main():
    folder, whole = sys.argv[-1], "--manifests" not in sys.argv
    hls, dash = read_hls(folder, whole), read_dash(folder, whole)
    check(hls.keys() == dash.keys(), f"HLS has {sorted(hls)}, DASH {sorted(dash)}")
    for name, durations in dash.items():
        if durations is None or name not in hls:
            continue
        check(len(durations) == len(hls[name]), f"{name}: numbers of segments differ")
        for exact, (written, _, _) in zip(durations, hls[name]):
            check(abs(exact - written) <= Fraction(1, 1_000_000), f"{name}: {exact} s in DASH, {written} s in HLS")
    print("\n".join(problems) or "2 formats agree")
    sys.exit(1 if problems else 0)


main()
