#!/bin/bash
# uv, uvx, pip and pip3; uv-pip is what an environment's own pip calls.
. "$(dirname "$(readlink -f "$0")")/../lib/tools.sh"
name=$(basename "$0")
[ "$name" = uv-pip ] && serve uv pip "$@"
serve "${name%3}" "$@"
