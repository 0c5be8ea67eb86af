# Tests and tools are files.
# Against: uvx.
echo x > /tests
mkdir -p /run
echo x > /run/rolf
