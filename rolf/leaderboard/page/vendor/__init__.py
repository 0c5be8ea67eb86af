"""Other projects' files that the page is made with, as their packages hold them, each under its own licence."""
