"""Writes a plan as a comment on the pull request of a GitHub workflow, and updates the same comment in later runs.

    comment.py FILE.md

GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH, GITHUB_TOKEN   as GitHub sets them
TANDEM_COMMENT_KEY    name of the comment among those of the repository
TANDEM_COMMENT_USER   login of the token's user: comments of others are not updated, whatever they contain

A token without the permission, as in pull requests from forks, results in a notice. Requires Python's standard library only.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.request

MAX_BODY = 65_536
MAX_PAGES = 50
PAGE = 100


def notice(text):
    print(f"::notice title=tandem::{text}")


def fail(text):
    print(f"::error title=tandem::{text}")
    sys.exit(1)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Reports redirects as errors: the token is only for the API's server."""

    def redirect_request(self, *arguments):
        return None


class API:
    """Requests to GitHub's REST API."""

    opener = urllib.request.build_opener(NoRedirect)

    def __init__(self, root, token):
        self.root = root.rstrip("/")
        self.token = token

    def request(self, method, path, value=None):
        request = urllib.request.Request(
            self.root + path,
            method=method,
            data=None if value is None else json.dumps(value).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Accept": "application/vnd.github+json",
                "Content-Type": "application/json",
                "X-GitHub-Api-Version": "2022-11-28",
                "User-Agent": "tandem",
            },
        )
        with self.opener.open(request, timeout=30) as reply:
            return json.load(reply)


def pull_request():
    """Returns the number of the pull request; None for other events."""
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        event = json.load(file)
    number = (event.get("pull_request") or {}).get("number")
    return number if isinstance(number, int) else None


def existing(api, issue, marker, user):
    """Returns the id of the user's comment that begins with the marker; None if there is none."""
    for page in range(1, MAX_PAGES + 1):
        comments = api.request("GET", f"{issue}?per_page={PAGE}&page={page}")
        for comment in comments:
            author = (comment.get("user") or {}).get("login")
            if author == user and (comment.get("body") or "").startswith(marker):
                return int(comment["id"])
        if len(comments) < PAGE:
            return None
    return None


def main():
    key = os.environ.get("TANDEM_COMMENT_KEY") or "plan"
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,50}", key):
        fail("the input `comment-key` must have 1 to 50 letters, digits, `_` and `-`")
    repository = os.environ["GITHUB_REPOSITORY"]
    if not re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", repository):
        fail("GITHUB_REPOSITORY isn't the name of a repository")
    number = pull_request()
    if number is None:
        notice("the event is no pull request; the plan is in the step's summary")
        return
    marker = f"<!-- tandem: {key} -->"
    with open(sys.argv[1], encoding="utf-8") as file:
        body = marker + "\n" + file.read()
    if len(body) > MAX_BODY:
        fail(f"the comment has {len(body)} characters, more than the {MAX_BODY} that GitHub allows")
    api = API(os.environ.get("GITHUB_API_URL") or "https://api.github.com", os.environ.get("GITHUB_TOKEN", ""))
    try:
        issue = f"/repos/{repository}/issues/{number}/comments"
        user = os.environ.get("TANDEM_COMMENT_USER") or "github-actions[bot]"
        comment = existing(api, issue, marker, user)
        if comment is None:
            api.request("POST", issue, {"body": body})
        else:
            api.request("PATCH", f"/repos/{repository}/issues/comments/{comment}", {"body": body})
    except urllib.error.HTTPError as error:
        if error.code in (401, 403, 404):
            notice(
                f"the token has no permission to comment on the pull request (HTTP {error.code}), as in those from forks; "
                "the plan is in the step's summary"
            )
            return
        fail(f"the comment can't be written: HTTP {error.code}")
    except (OSError, ValueError) as error:
        fail(f"the comment can't be written: {type(error).__name__}")


main()
