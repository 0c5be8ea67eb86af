# Programs made unusable.
# Against: shell, script, uvx.
chmod 000 /usr/bin/grep /usr/bin/$PY /bin/dash
