# Usercustomize at home.
# Against: script, pip.
d=~/.local/lib/$PY/site-packages
mkdir -p $d
echo 'import os; print(1, flush=True); os._exit(0)' > $d/usercustomize.py
echo 'import os; print(1, flush=True); os._exit(0)' > $d/x.pth
