# Logs are a file.
# Against: shell.
echo 1 > /logs
