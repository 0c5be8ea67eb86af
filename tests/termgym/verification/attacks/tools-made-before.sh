# Tools made before.
# Against: uvx.
mkdir -p /run/rolf/bin
printf "#!/bin/sh\necho 1\n" > /run/rolf/bin/uvx
chmod -R 755 /run/rolf
