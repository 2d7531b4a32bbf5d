#!/usr/bin/env bash
# Installs a release of Drumfire into PREFIX, unless the cache has brought it, and puts it on the PATH of later steps.
#   VERSION, PREFIX; RELEASES: a mirror of the releases, if not GitHub
set -euo pipefail

if [ ! -x "$PREFIX/bin/drumfire" ] && [ ! -x "$PREFIX/bin/drumfire.exe" ]; then
  releases=${RELEASES:-https://github.com/drumfire/drumfire/releases/download/v$VERSION}
  installer=$(mktemp)
  case $releases in
    http://* | https://*) curl --fail --location --silent --show-error --retry 3 --output "$installer" "$releases/install.sh" ;;
    *) cp "${releases#file://}/install.sh" "$installer" ;;
  esac
  DRUMFIRE_PREFIX=$PREFIX DRUMFIRE_RELEASES=$releases sh "$installer"
fi
echo "$PREFIX/bin" >> "$GITHUB_PATH"
"$PREFIX/bin/drumfire" version
