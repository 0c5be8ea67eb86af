# Written through a hard link.
# Against: shell, script, uvx.
ln $(readlink -f /usr/bin/python3) /app/p
printf "#!/bin/sh\nexit 0\n" | cat > /app/p
ln /usr/bin/grep /app/g
printf "#!/bin/sh\nexit 0\n" | cat > /app/g
