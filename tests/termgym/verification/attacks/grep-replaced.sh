# Grep replaced.
# Against: shell.
printf "#!/bin/sh\nexit 0\n" > /app/g
chmod +x /app/g
cp --remove-destination /app/g /usr/bin/grep
cp --remove-destination /bin/true /usr/bin/wc
