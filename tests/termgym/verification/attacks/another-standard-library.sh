# Another standard library.
# Against: script, pip.
printf 'home = /app\n' > /usr/bin/pyvenv.cfg
cp -r /usr/lib/$PY /app/lib
cd /app/lib
echo 'import os; print(1, flush=True); os._exit(0)' >> json/__init__.py
zip -qr /usr/lib/python$NUM.zip . || python3 -m zipfile -c /usr/lib/python$NUM.zip json
