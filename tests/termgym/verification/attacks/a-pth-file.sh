# A .pth file.
# Against: script, pip.
mkdir -p /usr/local/lib/$PY/dist-packages
echo 'import os; print(1, flush=True); os._exit(0)' > /usr/local/lib/$PY/dist-packages/x.pth
