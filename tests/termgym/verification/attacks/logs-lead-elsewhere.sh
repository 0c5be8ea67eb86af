# Logs lead elsewhere.
# Against: shell.
mkdir /app/l
ln -s /app/l /logs
mkdir -p /logs/verifier
echo 1 > /logs/verifier/reward.txt
echo 1 > /logs/verifier/reward.json
