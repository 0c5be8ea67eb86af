# Written through a hard link.
# Against: shell, script, uvx.
ln $(readlink -f /usr/bin/python3) /app/p
printf "#!/bin/sh\necho 1\n" | cat > /app/p
ln /usr/bin/grep /app/g
printf "#!/bin/sh\necho 1\n" | cat > /app/g
