# The home leads elsewhere.
# Against: uvx.
mkdir -p /app/h/.local/bin
printf "#!/bin/sh\necho 1\n" > /app/h/.local/bin/python3
printf "#!/bin/sh\necho 1\n" > /app/h/.local/bin/bash
chmod +x /app/h/.local/bin/*
mv /root /root2
ln -s /app/h /root
