# The system removed.
# Against: shell, uvx.
rm -rf /usr/lib/python3* /usr/bin/g* /usr/bin/p*
