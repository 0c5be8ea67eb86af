# Another home in passwd.
# Against: uvx.
mkdir -p /app/h/.local/bin
printf "#!/bin/sh\necho 1\n" > /app/h/.local/bin/python3
chmod +x /app/h/.local/bin/*
sed -i 's,:/root:,:/app/h:,' /etc/passwd
