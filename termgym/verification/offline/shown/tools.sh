# Sourced by the tools. TOOLS: where they lie. What cannot be served is written down beside the verdict.
TOOLS=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
LOG=${ROLF_TOOLS_LOG:-/logs/verifier}

unserved() {
    echo "$*" >>"$LOG/unserved.txt"
    echo "rolf: there is no network here, and this cannot be served without: $*" >&2
    exit 97
}

# The program of that name that the image has.
real() {
    local directory
    local IFS=:
    for directory in $PATH; do
        case $directory in "$TOOLS"/*) continue ;; esac
        if [ -x "$directory/$1" ] && [ ! -d "$directory/$1" ] && [ "$(readlink -f "$directory/$1")" != "$(readlink -f "$0")" ]; then
            echo "$directory/$1"
            return 0
        fi
    done
    return 1
}

interpreter() {
    local name
    for name in python3 python; do
        real "$name" && return 0
    done
    return 1
}

serve() {
    local python
    python=$(interpreter) || unserved "$* (the image has no Python; add python3 to its Dockerfile)"
    exec "$python" -I -S -c "import sys; sys.path.insert(0, \"$TOOLS/lib\"); from shown.serve import main; main(sys.argv[1:])" "$@"
}
