#!/bin/bash
# python and python3: the image's own, but for its pip.
. "$(dirname "$(readlink -f "$0")")/../lib/tools.sh"
name=$(basename "$0")
program=$(real "$name") || { echo "bash: $name: command not found" >&2; exit 127; }
[ "$1 $2" = "-m pip" ] && { shift 2; serve pip "$@"; }
[ "$1 $2" = "-m uv" ] && { shift 2; serve uv "$@"; }
exec "$program" "$@"
