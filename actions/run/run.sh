#!/usr/bin/env bash
# Validates and plans job files and, with TANDEM_COMMAND=run, runs them, in a step of GitHub Actions.
#   TANDEM_FILES      job files, one a line
#   TANDEM_COMMAND    plan or run
#   TANDEM_ROOT       folder beneath which all files must be
#   TANDEM_UNTRUSTED  true for job files of untrusted authors
#   TANDEM_AGAINST    an earlier plan, with which the plan is compared; optional
#   TANDEM_CACHE      folder of outputs of earlier runs, which untrusted job files only read; optional. The state is in a folder beside
#                     it, with `-state` at the end of its name, unless the job files are untrusted.
#   TANDEM_ARGUMENTS  further arguments for `tandem plan` or `tandem run`, one a line
# Outputs: status, plan, markdown, junit, report. The plan is added to the step's summary. Exits with Tandem's status.
set -euo pipefail

usage() { printf '::error title=tandem::%s\n' "$1"; exit 64; }
output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

# Lines without text are omitted.
mapfile -t files < <(grep -v '^[[:space:]]*$' <<<"${TANDEM_FILES:-}" || true)
mapfile -t arguments < <(grep -v '^[[:space:]]*$' <<<"${TANDEM_ARGUMENTS:-}" || true)
[ ${#files[@]} -gt 0 ] || usage "the input \`files\` is empty; expected job files, one a line"
case ${TANDEM_COMMAND:-plan} in plan | run) ;; *) usage "the input \`command\` must be \`plan\` or \`run\`" ;; esac

access=(--root "${TANDEM_ROOT:-.}")
[ "${TANDEM_UNTRUSTED:-}" != true ] || access+=(--untrusted)
cache=()
if [ -n "${TANDEM_CACHE:-}" ]; then
    cache=(--cache "$TANDEM_CACHE")
    # The state records checks that passed, and measurements. Sources of a new checkout are known by their content.
    [ "${TANDEM_UNTRUSTED:-}" = true ] || cache+=(--state "$TANDEM_CACHE-state" --fingerprint content)
fi
against=()
[ -z "${TANDEM_AGAINST:-}" ] || against=(--against "$TANDEM_AGAINST")

# Later steps read the files that the outputs name; GitHub empties RUNNER_TEMP after the job. The names in this folder don't depend on job files.
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/tandem.XXXXXXXX")
status=0
finish() { output status "$status"; exit "$status"; }

tandem validate "${access[@]}" -- "${files[@]}" || status=$?
[ "$status" -eq 0 ] || finish

if [ "${TANDEM_COMMAND:-plan}" = plan ]; then
    tandem plan "${access[@]}" "${against[@]}" "${arguments[@]}" --format markdown --out "$folder/plan.json" \
        -- "${files[@]}" >"$folder/plan.md" || status=$?
    if [ -s "$folder/plan.md" ]; then
        output markdown "$folder/plan.md"
        [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$folder/plan.md" >>"$GITHUB_STEP_SUMMARY"
    fi
    [ ! -e "$folder/plan.json" ] || output plan "$folder/plan.json"
    # The Markdown has no annotations of errors that depend on the sources. `status` already has the result.
    [ "$status" -eq 0 ] || tandem plan "${access[@]}" "${arguments[@]}" --format github -- "${files[@]}" || true
    finish
fi
# The run adds its results to the summary itself.
tandem run "${access[@]}" "${cache[@]}" "${arguments[@]}" --junit "$folder/junit.xml" --report "$folder/report.html" -- "${files[@]}" || status=$?
[ ! -e "$folder/junit.xml" ] || output junit "$folder/junit.xml"
[ ! -e "$folder/report.html" ] || output report "$folder/report.html"
finish
