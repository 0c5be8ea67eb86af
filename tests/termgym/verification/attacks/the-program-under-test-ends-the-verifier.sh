# The program under test ends the verifier.
# Against: program.
echo 'echo 1 > /logs/verifier/reward.txt; kill -9 -1; kill -9 $PPID 1' > answer.sh
