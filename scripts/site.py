#!/usr/bin/env python3
"""Builds the site of scripts/site: pages from Markdown and YAML files of the repository, without external resources.

Usage: site.py --library FOLDER [--base PATH] OUTPUT. Checks that each link and fragment has a target, and, in Chromium, that no page is wider than 400
pixels. A problem is printed, and the exit status is 1."""
import argparse
import html
import html.parser
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import markdown
import pygments
import pygments.formatters
import pygments.lexers

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Pages of the navigation, with their titles.
NAVIGATION = [
    ("README.md", "Tandem"), ("docs/tutorial.md", "Tutorial"), ("docs/decisions.md", "Jobs that decide"),
    ("docs/migrating.md", "From other tools"),
    ("docs/reference.md", "Reference"), ("docs/running.md", "Running"), ("docs/cluster.md", "Clusters"),
    ("docs/packages.md", "Streaming packages"),
    ("docs/ci.md", "CI"), ("docs/installing.md", "Installing"), ("docs/editors.md", "Editors"), ("docs/rules.md", "Diagnostics"),
    ("docs/glossary.md", "Glossary"), ("CHANGELOG.md", "Changes"),
]
LIBRARIES = ["TandemKit", "TandemBatch"]

STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff; --box: #f6f8fa; --link: #0757ba; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9da7b3; --line: #30363d; --back: #0d1117; --box: #161b22; --link: #6cb0ff; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); }
.skip { position: absolute; left: -999px; } .skip:focus { left: 0; }
.page { display: grid; grid-template-columns: 13rem minmax(0, 1fr); max-width: 76rem; margin: 0 auto; }
nav { padding: 1.5rem 1rem; } nav ul { list-style: none; margin: 0; padding: 0; } nav a { display: block; padding: .2rem 0; text-decoration: none; }
nav a[aria-current] { font-weight: 600; color: var(--text); }
main { padding: 1rem 1.5rem 4rem; min-width: 0; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 2.2em; padding-bottom: .2em; border-bottom: 1px solid var(--line); }
code { font: .875em/1.45 ui-monospace, monospace; background: var(--box); padding: .1em .3em; border-radius: 4px; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; } pre code { padding: 0; background: none; }
.file { margin-bottom: -.6rem; color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--box); } td code { white-space: normal; }
@media (max-width: 46rem) {
  .page { display: block; } nav { padding: .8rem 1rem 0; } nav ul { display: flex; flex-wrap: wrap; gap: 0 1rem; } main { padding: 0 1rem 3rem; }
}
"""


def slug(text, separator):
    """The fragment of a heading, as GitHub computes it."""
    text = html.unescape(re.sub(r"<[^>]*>", "", text)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def code_style():
    light, dark = (pygments.formatters.HtmlFormatter(style=name) for name in ("default", "github-dark"))
    def rules(formatter):
        return "\n".join(line for line in formatter.get_style_defs(".codehilite").splitlines()
                         if not re.match(r"(pre|td|span)\b|\.codehilite \{|\.codehilite \.hll", line))
    return rules(light) + "\n@media (prefers-color-scheme: dark) {\n" + rules(dark) + "\n}\n"


def target_of(path):
    """The page of a file or folder in the repository. One that has no page of its own is shown as source text."""
    if path == "README.md":
        return "index.html"
    if path in ("jobs", "jobs/"):
        return "jobs/index.html"
    if path in ("schemas", "schemas/"):
        return "schemas/index.html"
    if article := re.match(rf"^Sources/({'|'.join(LIBRARIES)})/\1\.docc/(\w+)\.md$", path):
        library, name = article[1], article[2].lower()
        return f"library/{library}/documentation/{library.lower()}/" + ("" if name == library.lower() else name + "/") + "index.html"
    if path.startswith("schemas/"):
        return path
    if re.match(r"^(docs/)?[A-Za-z]+\.md$", path) or re.match(r"^jobs/.*\.yaml$", path):
        return re.sub(r"\.(md|yaml)$", ".html", path)
    return f"files/{path}.html"


class Site:
    def __init__(self, output, library, base):
        self.output, self.library, self.base = output, library, base
        self.problems = []
        # Files and folders to show as source text.
        self.sources = set()

    def page(self, source, target, title, body):
        """Writes a page. `source` is the file in the repository that relative links start from."""
        up = "../" * target.count("/")
        def link(path, text):
            current = ' aria-current="page"' if target_of(path) == target else ""
            return f'<li><a href="{up}{target_of(path)}"{current}>{html.escape(text)}</a></li>'
        links = [link(path, text) for path, text in NAVIGATION] + [link("jobs", "Examples")] + [
            f'<li><a href="{up}{target_of(f"Sources/{name}/{name}.docc/{name}.md")}">{name}</a></li>' for name in LIBRARIES]
        body = re.sub(r'<a href="([^"]+)"', lambda match: f'<a href="{html.escape(self.resolved(html.unescape(match[1]), source, up))}"', body)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        name = title if title == "Tandem" else f"{title} – Tandem"
        text = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(name)}</title>
<link rel="stylesheet" href="{up}style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="page">
<nav aria-label="Pages"><ul>{''.join(links)}</ul></nav>
<main id="content">
{body}
</main>
</div>
</body>
</html>
"""
        path = os.path.join(self.output, target)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def resolved(self, href, source, up):
        """The address of a link on a page. A link to a file that doesn't exist is a problem."""
        if re.match(r"^[a-z]+:", href) or href.startswith("#"):
            return href
        path, _, fragment = href.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), urllib.parse.unquote(path)))
        if not os.path.exists(os.path.join(ROOT, path)):
            self.problems.append(f"{source}: {href} doesn't exist")
            return href
        target = target_of(path)
        if target.startswith("files/"):
            self.sources.add(path)
        return up + target + ("#" + fragment if fragment else "")

    def markdown_page(self, source):
        with open(os.path.join(ROOT, source)) as file:
            text = file.read()
        # A block's title (```yaml title=jobs.yaml) is a line above it.
        text = re.sub(r"^```(\w+) title=(\S+)$", r"`\2`\n{: .file }\n\n```\1", text, flags=re.M)
        converter = markdown.Markdown(extensions=["tables", "fenced_code", "codehilite", "toc", "sane_lists", "attr_list"],
                                      extension_configs={"codehilite": {"guess_lang": False}, "toc": {"slugify": slug}})
        body = converter.convert(text)
        title = dict(NAVIGATION).get(source) or re.search(r"^# (.*)$", text, re.M)[1].replace("`", "")
        self.page(source, target_of(source), title, body)

    def example_pages(self):
        folder = os.path.join(ROOT, "jobs")
        names = sorted(os.path.relpath(os.path.join(top, name), ROOT) for top, _, files in os.walk(folder) for name in files
                       if name.endswith(".yaml") and "/out/" not in top + "/")
        rows = []
        for source in names:
            with open(os.path.join(ROOT, source)) as file:
                text = file.read()
            self.page(source, target_of(source), source, f"<h1>{source}</h1>\n{self.highlighted(source, text)}")
            # The first comment, before or after `version`.
            head = re.match(r"((#.*|version:.*|name:.*)\n)*", text)[0]
            comment = [line[1:].strip() for line in head.splitlines() if line.startswith("#")]
            summary = " ".join(line for line in comment if line and not line.startswith("yaml-language-server"))
            summary = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(summary.split(". ")[0].rstrip(".")))
            rows.append(f'<li><a href="{os.path.relpath(source, "jobs")}">{os.path.relpath(source, "jobs")}</a>{": " if summary else ""}{summary}</li>')
        self.page("jobs/README", "jobs/index.html", "Examples", "<h1>Examples</h1>\n<ul>" + "\n".join(rows) + "</ul>")

    @staticmethod
    def highlighted(name, text):
        try:
            lexer = pygments.lexers.get_lexer_for_filename(name)
        except pygments.util.ClassNotFound:
            lexer = pygments.lexers.TextLexer()
        return pygments.highlight(text, lexer, pygments.formatters.HtmlFormatter(cssclass="codehilite"))

    def source_pages(self):
        """Pages of the files and folders that other pages link to."""
        for path in sorted(self.sources):
            names = subprocess.run(["git", "ls-files", "-z", "--", path], cwd=ROOT, capture_output=True, text=True, check=True).stdout
            body = f"<h1>{html.escape(path)}</h1>\n"
            for name in filter(None, names.split("\0")):
                with open(os.path.join(ROOT, name), errors="replace") as file:
                    body += (f"<h2>{html.escape(name)}</h2>\n" if name != path else "") + self.highlighted(name, file.read())
            self.page(path, target_of(path), path, body)

    def libraries(self):
        """Copies the documentation of the libraries, whose pages refer to their files by absolute paths."""
        for library in LIBRARIES:
            folder = os.path.join(self.output, "library", library)
            shutil.copytree(os.path.join(self.library, library), folder)
            base = f"{self.base}library/{library}/"
            for top, _, files in os.walk(folder):
                for name in filter(lambda name: name.endswith(".html"), files):
                    path = os.path.join(top, name)
                    with open(path) as file:
                        text = file.read()
                    text = re.sub(r'((?:href|src)=|baseUrl = )"/', rf'\1"{base}', text)
                    with open(path, "w") as file:
                        file.write(text)

    def schemas(self):
        names = sorted(name for name in os.listdir(os.path.join(ROOT, "schemas")) if name.endswith(".json"))
        os.makedirs(os.path.join(self.output, "schemas"), exist_ok=True)
        for name in names:
            shutil.copy(os.path.join(ROOT, "schemas", name), os.path.join(self.output, "schemas", name))
        items = "\n".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        self.page("schemas/README", "schemas/index.html", "Schemas", f"<h1>JSON schemas</h1>\n<ul>{items}</ul>")

    def build(self):
        shutil.rmtree(self.output, ignore_errors=True)
        os.makedirs(self.output)
        with open(os.path.join(self.output, "style.css"), "w") as file:
            file.write(STYLE + code_style())
        documents = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md"]
        documents += sorted("docs/" + name for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md"))
        for source in documents:
            if os.path.exists(os.path.join(ROOT, source)):
                self.markdown_page(source)
        self.example_pages()
        self.schemas()
        self.source_pages()
        self.libraries()

    # MARK: Checks

    def pages(self):
        for top, folders, files in os.walk(self.output):
            if top == self.output:
                folders.remove("library")
            yield from (os.path.join(top, name) for name in files if name.endswith(".html"))

    def check_links(self):
        """Each link has a target: a file of the site and, on its own pages, the fragment."""
        ids, links = {}, []
        for path in self.pages():
            ids[path] = set()
            class Reader(html.parser.HTMLParser):
                def handle_starttag(self, tag, attributes):
                    attributes = dict(attributes)
                    if attributes.get("id") in ids[path]:
                        links.append((path, None, attributes["id"]))
                    if "id" in attributes:
                        ids[path].add(attributes["id"])
                    for key in ("href", "src"):
                        if key in attributes:
                            links.append((path, attributes[key], None))
            with open(path) as file:
                Reader().feed(file.read())
        for path, href, duplicate in links:
            name = os.path.relpath(path, self.output)
            if duplicate is not None:
                self.problems.append(f"{name}: the id {duplicate} occurs twice")
                continue
            if re.match(r"^[a-z]+:", href):
                continue
            file, _, fragment = href.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(file))) if file else path
            if not os.path.isfile(target):
                self.problems.append(f"{name}: {href} has no target")
            elif fragment and target in ids and urllib.parse.unquote(fragment) not in ids[target]:
                self.problems.append(f"{name}: {href} has no such heading")

    def check_width(self):
        """No page is wider than its window of 400 pixels, in Chromium."""
        pages = sorted(os.path.relpath(path, self.output) for path in self.pages())
        frames = "\n".join(f'<iframe src="file://{self.output}/{page}" data-page="{page}" style="width:400px;height:800px"></iframe>' for page in pages)
        script = """<script>window.onload = () => { document.title = "measured"; for (const frame of document.querySelectorAll("iframe")) {
            const width = frame.contentDocument ? frame.contentDocument.documentElement.scrollWidth : -1;
            const line = document.createElement("p"); line.textContent = "width " + width + " " + frame.dataset.page; document.body.append(line); } }</script>"""
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/check.html", "w") as file:
                file.write(f"<!DOCTYPE html><html><body>{frames}{script}</body></html>")
            done = subprocess.run(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", f"--user-data-dir={folder}/profile",
                 "--virtual-time-budget=20000", "--dump-dom", f"file://{folder}/check.html"], capture_output=True, text=True, timeout=300)
        widths = dict((page, int(width)) for width, page in re.findall(r"<p>width (-?\d+) ([^<]*)</p>", done.stdout))
        for page in pages:
            if page not in widths:
                self.problems.append(f"{page} was not measured: {done.stderr[-300:]}")
            elif not 0 < widths[page] <= 400:
                self.problems.append(f"{page} is {widths[page]} pixels wide in a window of 400")
        return len(pages)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--base", default="/", help="path at which the site is served, with slashes at both ends")
    parser.add_argument("output")
    arguments = parser.parse_args()
    site = Site(os.path.abspath(arguments.output), os.path.abspath(arguments.library), arguments.base)
    site.build()
    site.check_links()
    count = site.check_width()
    for problem in site.problems:
        print(f"error: {problem}")
    print(f"{count} pages, {len(site.problems)} problems")
    sys.exit(1 if site.problems else 0)


main()
