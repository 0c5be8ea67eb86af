"""Serve terminals to OpenEnv's clients and work in several at a time. Prints how many did what they were told."""

import argparse
import asyncio
import subprocess
import sys

from rolf_adapters.openenv import EpisodeClient, NotResetError, ToolCall

SERVER = [sys.executable, "-m", "rolf_adapters.openenv", "termgym:TermEnv-v1", "--port", "0"]


async def work(url: str, number: int) -> bool:
    """Write a number in one shell and read it again."""
    async with EpisodeClient(base_url=url) as env:
        begun = await env.reset(seed=number)
        assert [tool["function"]["name"] for tool in begun.observation.tools] == ["run", "keys", "submit"]
        await env.step(ToolCall(tool="run", arguments={"command": f"echo {number} > note"}))
        told = await env.step(ToolCall(tool="run", arguments={"command": "cat note"}))
        ended = await env.step(ToolCall(tool="submit"))
        try:
            await env.step(ToolCall(tool="submit"))
        except NotResetError:
            return ended.done and f"<stdout>\n{number}\n" in told.observation.text
    return False


async def together(url: str, sessions: int) -> list[bool]:
    return await asyncio.gather(*(work(url, number) for number in range(sessions)))


def main(sessions: int) -> int:
    with subprocess.Popen(SERVER, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            print(f"served at {url}")
            return sum(asyncio.run(together(url, sessions)))
        finally:
            server.terminate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=8)
    print(main(parser.parse_args().sessions))
