#!/bin/bash
# apt-get, apt and apk: what the image or the tools have already is installed; nothing else can be.
. "$(dirname "$(readlink -f "$0")")/../lib/tools.sh"
name=$(basename "$0")
verb=
missing=
skip=
for word in "$@"; do
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in
        -o | -t | -c | --option | --target-release | -X | --repository) skip=1; continue ;;
        -*) continue ;;
    esac
    if [ -z "$verb" ]; then verb=$word; continue; fi
    package=${word%%[=:/]*}
    case $package in
        curl | wget | python3-pip | python3-venv | uv | apt-transport-https | software-properties-common | gnupg) continue ;;
    esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] && continue
    [ "$name" = apk ] && command -v "$package" >/dev/null && continue
    [ "$package" = ca-certificates ] && [ -e /etc/ssl/certs ] && continue
    missing="$missing $package"
done
case $verb in
    update | upgrade | clean | autoclean | autoremove | dist-upgrade) exit 0 ;;
    install | add)
        [ -z "$missing" ] || unserved "$name $verb$missing (add to the image's Dockerfile)"
        exit 0
        ;;
esac
program=$(real "$name") || unserved "$name $*"
exec "$program" "$@"
