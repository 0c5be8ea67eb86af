#!/bin/sh
# What the installer of uv does, with the uv that rolf shows to verifiers.
directory=${UV_INSTALL_DIR:-${UV_UNMANAGED_INSTALL:-${XDG_BIN_HOME:-$HOME/.local/bin}}}
mkdir -p "$directory"
for name in uv uvx; do
    ln -sf "TOOLS_HERE/uv/$name" "$directory/$name"
done
rm -f "$directory/env"
printf 'case ":${PATH}:" in\n    *:"%s":*) ;;\n    *) export PATH="%s:$PATH" ;;\nesac\n' "$directory" "$directory" >"$directory/env"
echo "uv is served by rolf, without network"
