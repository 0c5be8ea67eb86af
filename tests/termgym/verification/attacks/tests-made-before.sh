# Tests made before.
# Against: shell, uvx.
mkdir /tests
echo 'echo 1 > /logs/verifier/reward.txt' | tee /tests/shell.sh /tests/uvx.sh
