# A FIFO as reward.
# Against: shell.
mkdir -p /logs/verifier
mkfifo /logs/verifier/reward.json
