# Modules in the working directory.
# Against: pip, copied.
echo 'import os; print(1, flush=True); os._exit(0)' | tee json.py pytest.py logging.py re.py
