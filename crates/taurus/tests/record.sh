#!/bin/sh
# Records what Taurus makes of each case: `record.sh BZT` with the bzt program of a virtual environment. Then
# `TAURUS_PLANS=/tmp/taurus-plans cargo test -p drumfire-taurus --test all cases -- --ignored` writes the outlines.
set -eu
bzt=$1
plans=/tmp/taurus-plans
cd "$(dirname "$0")/cases"
home=$(mktemp -d)
mkdir -p "$plans" "$home/jmeter/bin" "$home/jmeter/lib/ext"
printf '#!/bin/sh\nexit 0\n' > "$home/jmeter/bin/jmeter"
chmod +x "$home/jmeter/bin/jmeter"
# the names of jars are all that bzt looks at
touch "$home/jmeter/lib/ext/jmeter-plugins-casutg-2.10.jar"
cat > "$home/.bzt-rc" <<RC
settings: {check-updates: false, check-interval: 0.1s}
modules:
  jmeter: {path: $home/jmeter/bin/jmeter, detect-plugins: false, fix-jars: false}
  console: {disable: true}
RC
for case in *.yml *.json; do
    name=${case%.*}
    [ -z "${2:-}" ] || [ "$2" = "$name" ] || continue
    rm -rf "$home/out"
    options=$(cat "$name.args" 2>/dev/null || true)
    # shellcheck disable=SC2086
    HOME=$home "$bzt" "$case" $options -o "settings.artifacts-dir=$home/out" > "$home/log" 2>&1 || true
    made=$(ls "$home"/out/modified_*.jmx modified_*.jmx 2>/dev/null | head -1)
    if [ -n "$made" ]; then cp "$made" "$plans/$name.jmx"; else echo "$name: no plan"; tail -5 "$home/log"; fi
    rm -f modified_*.jmx
done
rm -rf "$home"
