#!/usr/bin/env bash
# Runs a plan and leaves report.html, results.jtl, run.drumfire, summary.json and junit.xml in FOLDER. The outcome goes to the
# step's summary and to annotations; the exit code is an output, so that later steps can upload the report first.
#   PLAN, FOLDER, CACHED; FAIL_ON, OPTIONS: one a line; STRICT: true; BASELINE: a run file, or `cache` for the one at CACHED
set -euo pipefail

mkdir -p "$FOLDER"
words=(
  run "$PLAN" --progress lines -l "$FOLDER/results.jtl" -f -j "$FOLDER/drumfire.log"
  --report "$FOLDER/report.html" --run-file "$FOLDER/run.drumfire" --summary-json "$FOLDER/summary.json"
  --junit "$FOLDER/junit.xml" --markdown "$FOLDER/outcome.md" --annotations
)
while IFS= read -r line; do
  [ -z "$line" ] || words+=(--fail-on "$line")
done <<< "${FAIL_ON:-}"
while IFS= read -r line; do
  [ -z "$line" ] || words+=("$line")
done <<< "${OPTIONS:-}"
[ "${STRICT:-}" != true ] || words+=(--strict)
case ${BASELINE:-} in
  '') ;;
  cache) [ ! -f "$CACHED" ] || words+=(--baseline "$CACHED") ;;
  *) words+=(--baseline "$BASELINE") ;;
esac

code=0
drumfire "${words[@]}" || code=$?
echo "folder=$FOLDER" >> "$GITHUB_OUTPUT"
echo "exit-code=$code" >> "$GITHUB_OUTPUT"
[ ! -f "$FOLDER/outcome.md" ] || cat "$FOLDER/outcome.md" >> "$GITHUB_STEP_SUMMARY"
if [ "${BASELINE:-}" = cache ] && [ "$code" = 0 ]; then
  mkdir -p "$(dirname "$CACHED")"
  cp "$FOLDER/run.drumfire" "$CACHED"
fi
