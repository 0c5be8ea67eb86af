#!/bin/bash
# curl and wget: the installer of uv is at hand, this machine can be asked, the rest of the world cannot.
. "$(dirname "$(readlink -f "$0")")/../lib/tools.sh"
name=$(basename "$0")
output=
url=
previous=
for word in "$@"; do
    case $previous in
        -o | --output | -O | --output-document) [ "$name" = curl ] && [ "$previous" = -O ] || { output=$word; previous=; continue; } ;;
    esac
    case $word in
        *://* | localhost* | 127.* | \[::1\]*) url=$word ;;
        -O?*) [ "$name" = wget ] && output=${word#-O} ;;
        -qO?*) output=${word#-qO} ;;
    esac
    previous=$word
    case $word in -*O) [ "$name" = wget ] && previous=-O ;; -[a-zA-Z]*o) [ "$name" = curl ] && previous=-o ;; esac
done

put() {
    if [ -n "$output" ] && [ "$output" != - ]; then cat >"$output"
    elif [ "$name" = wget ] && [ -z "$output" ]; then cat >"$(basename "$url")"
    else cat
    fi
}

case $url in
    *astral.sh/uv* | *github.com/astral-sh/uv/*installer.sh) sed "s#TOOLS_HERE#$TOOLS#" "$TOOLS/lib/install-uv.sh" | put; exit ;;
    *bootstrap.pypa.io/*get-pip.py) echo 'print("pip is served by rolf")' | put; exit ;;
esac
host=${url#*://}
host=${host#*@}
case $host in
    \[*) host=${host%%]*}; host=${host#[} ;;
    *) host=${host%%[/:?#]*} ;;
esac
case $url:$host in
    file://*) ;;
    *:localhost | *:127.* | *:::1 | *:0.0.0.0 | *:*.localhost | :*) ;;
    *) case $(getent hosts "$host" 2>/dev/null) in 127.* | ::1*) ;; *) unserved "$name $url" ;; esac ;;
esac
program=$(real "$name") || unserved "$name (the image has none; add it to its Dockerfile)"
exec "$program" "$@"
