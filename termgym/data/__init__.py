"""What was measured or decided about the tasks, as files, each with the module that writes it anew."""
