"""A site cannot be served: a symbolic link dangles, runs in a circle, names another machine, or leads to old pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from termgym.checks import Check, FileHash, OutputContains
from termgym.tasks.family import Family, act, holds, sha256
from termgym.tasks.task import HOME, FileSpec, Task
from termgym.tasks.world import NOUNS, PLACES, PROJECTS, TOOL_TRACES, World, phrase, prose, text

STATUS = b"""\
#!/bin/bash
# Say whether the site can be served. Looks at the live release only; it does not see everything that is in LINKS.
cd "$(dirname "$0")" || exit
fail() { echo "status: $*" >&2; exit 1; }
release=$(cat current/release.txt 2>&1) || fail "$release"
[ "$release" = "$(cat LIVE)" ] || fail "current is release $release, not $(cat LIVE)"
for folder in public current/media; do
    said=$(ls "$folder/" 2>&1) || fail "$said"
done
said=$(cat current/settings.ini 2>&1) || fail "$said"
echo "serving release $release"
"""


@dataclass(frozen=True)
class Scene:
    """A site with three releases that share settings and media."""

    name: str
    place: str
    releases: tuple[str, ...]
    """Oldest first; the newest is live."""
    content: Mapping[str, bytes]
    """The regular files, by their paths in the site."""
    media: str
    """What the folder that all releases share is called."""

    @property
    def root(self) -> str:
        """The site's directory."""
        return f"{HOME}/{self.place}/{self.name}"

    @property
    def live(self) -> str:
        """The directory of the live release, in the site."""
        return f"releases/{self.releases[-1]}"

    @property
    def links(self) -> dict[str, str]:
        """Each link of the site, with the place in the site that it has to lead to."""
        ends = {"current": self.live, "previous": f"releases/{self.releases[-2]}", "public": f"{self.live}/pages"}
        for release in self.releases:
            ends[f"releases/{release}/media"] = f"shared/{self.media}"
            ends[f"releases/{release}/settings.ini"] = "shared/settings.ini"
        return ends

    @property
    def targets(self) -> dict[str, str]:
        """Each link of the site, with a sound text for it."""
        texts = {link: f"../../{end}" if "/" in link else end for link, end in self.links.items()}
        return {**texts, "public": "current/pages"}

    @property
    def readme(self) -> bytes:
        """What the site says about itself."""
        return text(
            (
                f"# {self.name}",
                "",
                "LIVE names the release that is served. `current` leads to it and `public` goes through `current`.",
                "What all releases have in common is in shared/. LINKS is the list of all links.",
            )
        )

    @property
    def table(self) -> bytes:
        """What LINKS says: the site's own list."""
        rows = [f"{link:<28} {end}" for link, end in sorted(self.links.items())]
        return text(
            ["# link, and the place in this directory that it leads to (at last); all links are relative", *rows]
        )


def scene(world: World) -> Scene:
    """Draw the site; blind to the cause."""
    rng = world.scene
    major, minor = rng.randrange(1, 6), rng.randrange(0, 7)
    releases = tuple(f"{major}.{minor + step}" for step in range(3))
    media = rng.choice(("media", "images", "assets", "uploads"))
    files = {f"shared/{media}/{noun}.txt": text(prose(rng, 2)) for noun in rng.sample(NOUNS, rng.randrange(2, 6))}
    files["shared/settings.ini"] = text(["[site]", f"title = {rng.choice(NOUNS)} {rng.choice(NOUNS)}"])
    for release in releases:
        files[f"releases/{release}/release.txt"] = f"{release}\n".encode()
        for noun in rng.sample(NOUNS, rng.randrange(3, 6)):
            files[f"releases/{release}/pages/{noun}.txt"] = text(prose(rng, 3))
    files["LIVE"] = f"{releases[-1]}\n".encode()
    return Scene(rng.choice(PROJECTS), rng.choice(PLACES), releases, files, media)


def _instruction(world: World, at: Scene) -> str:
    return phrase(
        world.scene,
        f"The site in {at.root} is not served any more, ./status there fails. Something is wrong with its symbolic "
        "links. Please set right every link of the site, so that each leads where the file LINKS says, also those "
        "that ./status does not look at. Links have to be relative, so that the site can be moved. All other files "
        "stay as they are, and no link is to be replaced by a copy.",
        f"Can you repair the links of ~/{at.place}/{at.name}? ./status complains since yesterday. LINKS in the "
        "same place lists what leads where in the end. I want relative links only, none left out, nothing copied or "
        "moved, and no other file changed: we move the whole directory to another machine soon.",
        f"Please make ~/{at.place}/{at.name}/status succeed again by repairing symbolic links alone. See LINKS "
        "there for where each has to end up, and check all of them, old releases included. They must be links with "
        "relative targets inside the site; don't touch any regular file.",
    )


def _goal(at: Scene) -> tuple[Check, ...]:
    kinds = {**dict.fromkeys((*at.content, "README.md", "LINKS", "status"), "f"), **dict.fromkeys(at.links, "l")}
    listing = text(sorted(f"{path} {kind}" for path, kind in kinds.items()))
    pairs = " ".join(f"{link}:{end}" for link, end in sorted(at.links.items()))
    return (
        FileHash(path=f"{at.root}/status", sha256=sha256(STATUS)),
        FileHash(path=f"{at.root}/LINKS", sha256=sha256(at.table)),
        *(FileHash(path=f"{at.root}/{path}", sha256=sha256(body)) for path, body in at.content.items()),
        holds(
            f"cd {at.root} && find . ! -type d -printf '%P %y\\n' | LC_ALL=C sort | sha256sum", pattern=sha256(listing)
        ),
        # The text of each link by itself stays inside the site; all of them together lead to the right end.
        holds(
            f"cd {at.root} && for pair in {pairs}; do link=${{pair%%:*}} text=$(readlink -- ${{pair%%:*}}) && "
            f'[[ $text != /* && $(realpath -ms -- "$(dirname $link)/$text") == {at.root}/* ]] && '
            f'[[ $(readlink -e -- $link) == "{at.root}/${{pair#*:}}" ]] || exit 1; done'
        ),
    )


def _task(world: World, at: Scene, wrong: Mapping[str, str], complaint: str) -> Task:
    """Return the task in which some links have a wrong text."""
    repair = act(" && ".join(f"ln -sfn {at.targets[link]} {link}" for link in wrong))
    return Task(
        id=world.name,
        instruction=_instruction(world, at),
        goal=_goal(at),
        files=(
            FileSpec(f"{at.root}/status", STATUS, mode=0o755),
            FileSpec(f"{at.root}/LINKS", at.table),
            *(FileSpec(f"{at.root}/{path}", body) for path, body in at.content.items()),
            *(
                FileSpec(f"{at.root}/{link}", wrong.get(link, sound).encode(), kind="symlink")
                for link, sound in at.targets.items()
            ),
            FileSpec(f"{at.root}/README.md", at.readme),
        ),
        allowed=(*(f"{at.root}/{link}" for link in at.links), *TOOL_TRACES),
        symptom=(act(f"{at.root}/status", OutputContains(pattern=complaint, stream="stderr"), exits=1),),
        oracle=(act(f"cd {at.root}"), repair, act("./status", OutputContains(pattern=f"release {at.releases[-1]}$"))),
    )


def _dangling(world: World) -> Task:
    """A link's text has a step too many or too few, or an old name."""
    at, rng = scene(world), world.twist
    link, old = rng.choice((("media", at.media), ("settings.ini", "settings.ini")))
    wrong = rng.choice((f"../shared/{old}", f"../../share/{old}", f"../../../shared/{old}"))
    releases = (at.releases[-1], rng.choice(at.releases[:-1]))
    return _task(world, at, {f"releases/{one}/{link}": wrong for one in releases}, "No such file or directory")


def _circle(world: World) -> Task:
    """A link leads back to itself, alone or through another."""
    at, rng = scene(world), world.twist
    wrong = rng.choice(({"current": "public/.."}, {"public": "public"}, {f"{at.live}/media": "../../current/media"}))
    old = rng.choice(at.releases[:-1])
    hidden = {f"releases/{old}/settings.ini": f"../../releases/{old}/settings.ini"}
    return _task(world, at, {**wrong, **hidden}, "Too many levels of symbolic links")


def _absolute(world: World) -> Task:
    """The links were made on another machine and name the place that the site had there."""
    at, rng = scene(world), world.twist
    before = rng.choice((f"/var/www/{at.name}", f"/opt/sites/{at.name}", f"/home/deploy/{at.name}"))
    chosen = sorted(at.links) if rng.random() < 0.5 else [link for link in sorted(at.links) if "releases" in link]
    return _task(world, at, {link: f"{before}/{at.links[link]}" for link in chosen}, "No such file or directory")


def _old_release(world: World) -> Task:
    """All links lead somewhere, but some lead to a release before."""
    at, rng = scene(world), world.twist
    old = at.releases[-2]
    wrong = {"current": f"releases/{old}", "previous": f"releases/{at.releases[0]}"}
    if rng.random() < 0.5:
        wrong = {"current": "previous", f"{at.live}/media": f"../{at.releases[0]}/pages"}
    return _task(world, at, wrong, re.escape(f"current is release {old}, not {at.releases[-1]}"))


FAMILY = Family(
    name="link-structure",
    summary="a site whose symbolic links do not lead where they should",
    causes={"dangling": _dangling, "circle": _circle, "absolute": _absolute, "old-release": _old_release},
    tags=("files", "links"),
)
