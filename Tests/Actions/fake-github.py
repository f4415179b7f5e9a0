"""Runs `actions/run/comment.py` several times against a fake of GitHub's API, and prints the requests as JSON.

    fake-github.py SCRIPT PLAN.md MODE [COMMENTS.json]

MODE: `writable`, `forbidden` (a token that can only read, as in forks), `broken` (an error of the server). COMMENTS.json contains existing comments.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

script, plan, mode = sys.argv[1:4]
comments = json.load(open(sys.argv[4])) if len(sys.argv) > 4 else []
requests = []


class GitHub(BaseHTTPRequestHandler):
    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def value(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def note(self, **more):
        requests.append({"method": self.command, "path": self.path, "token": self.headers["Authorization"], **more})

    def do_GET(self):
        self.note()
        query = parse_qs(urlsplit(self.path).query)
        page, size = int(query["page"][0]), int(query["per_page"][0])
        self.answer(200, comments[(page - 1) * size:page * size])

    def write(self, comment):
        body = self.value()["body"]
        self.note(body=body)
        if mode != "writable":
            return self.answer(403 if mode == "forbidden" else 500, {"message": "no"})
        comment["body"] = body
        self.answer(200, comment)

    def do_POST(self):
        comment = {"id": 1000 + len(comments), "user": {"login": "github-actions[bot]"}}
        self.write(comment)
        if "body" in comment:
            comments.append(comment)

    def do_PATCH(self):
        number = int(self.path.rsplit("/", 1)[1])
        self.write(next(comment for comment in comments if comment["id"] == number))

    def log_message(self, *arguments):
        pass


server = HTTPServer(("127.0.0.1", 0), GitHub)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = dict(os.environ, GITHUB_API_URL=f"http://127.0.0.1:{server.server_port}", GITHUB_TOKEN="secret")
runs = []
for _ in range(2):
    run = subprocess.run([sys.executable, script, plan], env=environment, capture_output=True, text=True)
    runs.append({"status": run.returncode, "output": run.stdout, "errors": run.stderr})
server.shutdown()
print(json.dumps({"runs": runs, "requests": requests, "comments": comments}))
