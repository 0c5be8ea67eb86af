# A gigabyte as reward.
# Against: shell.
mkdir -p /logs/verifier
truncate -s 1G /logs/verifier/reward.json
