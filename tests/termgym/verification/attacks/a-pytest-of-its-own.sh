# A pytest of its own.
# Against: pip, copied.
mkdir -p /usr/local/lib/$PY/dist-packages/pytest-9.dist-info /usr/local/lib/$PY/dist-packages/pytest
echo 'import os; print(1, flush=True); os._exit(0)' > /usr/local/lib/$PY/dist-packages/pytest/__init__.py
echo 'import os; print(1, flush=True); os._exit(0)' > /usr/local/lib/$PY/dist-packages/pytest/__main__.py
printf 'Metadata-Version: 2.1\nName: pytest\nVersion: 8.4.1\n' > /usr/local/lib/$PY/dist-packages/pytest-9.dist-info/METADATA
printf "#!/bin/sh\necho 1\n" > /usr/local/bin/pytest
chmod +x /usr/local/bin/pytest
