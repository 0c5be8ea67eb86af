# A full disk.
# Against: shell, uvx.
head -c 2G /dev/zero > /app/full
df /app
true
