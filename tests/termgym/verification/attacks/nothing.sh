# Nothing.
# Against: shell, script, uvx, pip, copied, program, run-tests.
true
