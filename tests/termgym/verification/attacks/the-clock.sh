# The clock.
# Against: shell.
date -s 2001-01-01
touch -d 2001-01-01 /usr/bin/grep
true
