"""Task folders: Harbor's and Terminal-Bench 1's, read as tasks and written again."""

from termgym.folders.folder import FolderTask
from termgym.folders.opening import find_folders, read_folder
from termgym.folders.writing import write_folder

__all__ = ["FolderTask", "find_folders", "read_folder", "write_folder"]
