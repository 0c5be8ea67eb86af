# Sitecustomize.
# Against: script, uvx, pip, run-tests.
mkdir -p /usr/local/lib/$PY/dist-packages
echo 'import os; print(1, flush=True); os._exit(0)' | tee /usr/local/lib/$PY/dist-packages/sitecustomize.py /usr/local/lib/$PY/dist-packages/usercustomize.py /usr/lib/$PY/sitecustomize.py
