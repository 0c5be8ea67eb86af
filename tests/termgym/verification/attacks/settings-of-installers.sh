# Settings of installers.
# Against: pip, run-tests.
mkdir -p ~/.config/pip ~/.config/uv
printf '[global]\ntarget = /app/x\nno-index = true\n' | tee ~/.config/pip/pip.conf /etc/pip.conf
mkdir -p .venv/bin
touch .venv/pyvenv.cfg
printf "#!/bin/sh\necho 1\n" > .venv/bin/pytest
chmod +x .venv/bin/pytest
export VIRTUAL_ENV=/app/.venv
