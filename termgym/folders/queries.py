"""Queries: what the 24 bash queries of InterCode need to be judged by equality, by their place in its list.

InterCode compares with the result of a reference command, and gives partial credit for similarity. Here success means
that what the agent saved equals what the reference prints, and that the files equal those that the reference leaves. So
the instruction has to say where results go and what a line looks like, which InterCode's do not; and a reference that
fails, that answers another question than the query, or whose answer depends on clock or file system is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """What is added to one query, or replaced in it."""

    form: str
    """What the instruction says of the form of the result."""
    reference: str = ""
    """The command that counts instead of InterCode's; empty: theirs."""
    why: str = ""
    """What is wrong with theirs."""
    said: tuple[str, str] = ("", "")
    """Words of the query, and what the instruction says instead."""
    ordered: bool = False
    """Whether the lines of the answer have to be in the reference's order."""
    unordered_files: tuple[str, ...] = ()
    """Files whose lines may come in any order."""
    archives: tuple[str, ...] = ()
    """Archives of which the members count, not the bytes."""
    outside: tuple[str, ...] = ()
    """Results that do not lie below /testbed."""


_CLOCK = "what it finds depends on when the files were made; the dates are fixed and the query names one"
_SINCE = "modified after 1 June 2025 (UTC)"

QUERIES: tuple[Query, ...] = (
    Query("Count /testbed itself too, and print the number alone."),
    Query(
        "The file is /testbed/concatenated_text_files.txt; the order of the texts does not matter.",
        "find /testbed -type f -name '*.txt' ! -name concatenated_text_files.txt -exec cat {} + "
        "> /testbed/concatenated_text_files.txt",
        "its `;` is not quoted, so find refuses and the file stays empty",
        unordered_files=("/testbed/concatenated_text_files.txt",),
    ),
    Query(
        "Print `DIRECTORY: NUMBER` a line, with full paths.",
        "find /testbed -name '*.py' -printf '%h\\n' | sort | uniq -c | awk '{print $2 \": \" $1}'",
        "it lists directories without a Python script too",
    ),
    Query("The new file is /testbed/dir1/textfile1_reverse_sorted.txt.", ordered=True),
    Query("Print `SIZE PATH` a line, sizes in bytes and the smallest first, paths as testbed/…", ordered=True),
    Query(
        "Print one path a line, as testbed/…",
        "find -L testbed/ -xtype l -type f -newermt 2025-06-01",
        "it looks at the date of the link instead of the file's, prints inode numbers, and depends on the clock",
        said=("modified in the last 7 days", _SINCE),
    ),
    Query("The file is /total_size.txt; write the number of bytes alone.", outside=("/total_size.txt",)),
    Query("A new file is called like the old one with .jpg added. Print nothing."),
    Query(
        "Print `SIZE NAME` a line for the regular files alone, the largest first, sizes as `ls -h` writes them.",
        "ls -lhS /testbed/dir1 | awk '/^-/ {print $5, $NF}'",
        "it prints dates, and sizes of directories, which depend on the machine",
        ordered=True,
    ),
    Query("Print it as `wc -l` does for all files that are not empty, with its line `total`."),
    Query(
        "Print `SIZE PATH` a line, sizes in bytes and the largest first, with full paths.",
        "find /testbed/dir3 -type f -printf '%s %p\\n' | sort -rn | head -n 3",
        "it counts directories, and blocks instead of bytes, which depend on the file system",
        ordered=True,
    ),
    Query("Print nothing."),
    Query(
        "Print nothing.",
        "find /testbed -type f -name '*.txt' -exec sh -c 'mv \"$1\" \"${1%.txt}.md\"' _ {} \\;",
        "`rename` takes other arguments from system to system, and is missing in its own image",
    ),
    Query(
        "Keep the files' paths in the archive. Print nothing.",
        "find /testbed -type f -newermt 2025-06-01 -print0 | xargs -0 tar -czf /testbed/archive.tar.gz",
        _CLOCK,
        said=("modified in the last 2 hours", _SINCE),
        archives=("/testbed/archive.tar.gz",),
    ),
    Query("Print only those directly in /testbed, one a line with its full path and a slash at its end."),
    Query("Print `PATH:LINE` for each line that has it in a file, with full paths."),
    Query(
        "Print nothing; write lines as md5sum does, with full paths, and none for hashes.txt itself.",
        "find /testbed -type f ! -name hashes.txt -exec md5sum {} + > /testbed/hashes.txt",
        "it hashes the file that it is about to write",
        unordered_files=("/testbed/hashes.txt",),
    ),
    Query("Print them as they are.", ordered=True),
    Query("Print `PATH -> TARGET` a line, with full paths."),
    Query("Print `NUMBER:LINE` a line.", ordered=True),
    Query(
        "Print one full path a line.",
        "find /testbed -type f -newermt 2025-06-01 -print",
        _CLOCK,
        said=("that have been modified in the last 24 hours", f"that were {_SINCE}"),
    ),
    Query("It is the file in /testbed/dir1/subdir1.", ordered=True),
    Query("Print nothing."),
    Query(
        "Print `NUMBER|LINE OF THE FIRST|LINE OF THE SECOND` a line.",
        "cd /testbed; paste -d '|' dir3/subdir1/subsubdir1/textfile3.txt dir1/subdir1/textfile4.txt | nl -ba -w1 -s'|'",
        "it reads the second file alone and numbers nothing",
        ordered=True,
    ),
)
