"""Chromium without a window, for tests of pages: what it fetches, what it complains about, what it shows."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

PACKAGES = {"chromium": "chromium", "chromedriver": "chromium-driver"}
"""Program -> Debian's package."""
SETTINGS = (
    "--headless=new",
    "--no-sandbox",  # a container has none to give, and root must not
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--window-size=1280,900",
)
WATCH = """
window.seen = [];
addEventListener("securitypolicyviolation", (event) =>
  seen.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
addEventListener("error", (event) => seen.push(`error: ${event.message}`));
addEventListener("unhandledrejection", (event) => seen.push(`rejection: ${event.reason}`));
"""
WAIT = 30
"""Longest that anything may take [s]."""


class Browser:
    """One window, and what goes on in it."""

    def __init__(self, driver: webdriver.Chrome, folder: Path) -> None:
        self._driver = driver
        self.folder = folder
        """All that it writes is in here."""
        self._driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def open(self, path: Path, fragment: str = "", *, scripts: bool = True) -> None:
        """Open a file from disk; what was before is forgotten.

        Args:
            path: The file.
            fragment: Where in it: ``#place``.
            scripts: Whether it may run any.
        """
        self._driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        self._driver.get("about:blank")
        self._driver.get_log("browser")
        self._driver.get_log("performance")
        self.look(1280)
        self._driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self._driver.get(path.resolve().as_uri() + fragment)

    def look(self, width: int, *, dark: bool = False, print_out: bool = False) -> None:
        """Look from a screen of that width, on paper of that colour."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        media = "print" if print_out else "screen"
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": scheme})
        # Drawn anew in a frame after the one in which the size changed.
        self.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, script: str, *values: Any) -> Any:
        """Return what a piece of JavaScript returns."""
        return self._driver.execute_script(script, *values)

    def find(self, selector: str) -> WebElement:
        """Return the first element."""
        return self._driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[WebElement]:
        """Return all elements."""
        return self._driver.find_elements("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """Return the text of each element, shown or not."""
        texts: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent.trim())", selector
        )
        return texts

    def click(self, selector: str) -> None:
        """Click, as a reader does who has scrolled there."""
        self.run("arguments[0].scrollIntoView({block: 'center'})", self.find(selector))
        self.run("arguments[0].click()", self.find(selector))

    def press(self, selector: str, key: str) -> None:
        """Press a key while an element has the focus."""
        self.find(selector).send_keys(key)

    def until(self, holds: Callable[[], Any], what: str) -> None:
        """Wait until something holds."""
        WebDriverWait(self._driver, WAIT, poll_frequency=0.1).until(lambda _: holds(), what)

    def fetched(self) -> list[str]:
        """Return the addresses of all that was asked for since the page was opened, the page left out."""
        events = [json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")]
        asked = [each["params"]["request"] for each in events if each["method"] == "Network.requestWillBeSent"]
        sockets = [each["params"]["url"] for each in events if each["method"] == "Network.webSocketCreated"]
        return [each["url"] for each in asked if each["url"].partition("#")[0] != self.address] + sockets

    def complaints(self) -> list[str]:
        """Return what the console and the page's own events told since it was opened."""
        told = [f"{each['level']}: {each['message']}" for each in self._driver.get_log("browser")]
        return told + list(self.run("return seen"))

    @property
    def address(self) -> str:
        """Where it is."""
        return str(self._driver.current_url).partition("#")[0]

    def picture(self, path: Path) -> None:
        """Save what is seen."""
        self._driver.save_screenshot(str(path))


def missing(found: Callable[[str], str | None] = shutil.which) -> str:
    """Return what to do about programs that are not installed; empty: all are."""
    packages = [package for program, package in PACKAGES.items() if found(program) is None]
    line = f"sudo apt-get install {' '.join(packages)}"
    return f"pages are tested in Chromium, which is not installed here: {line}" if packages else ""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium with a profile of its own, and leave neither behind."""
    assert not missing(), missing()
    # Not in $TMPDIR: the path of a socket in there must not be longer than 107 characters.
    with tempfile.TemporaryDirectory(prefix="rolf-chromium-", dir="/tmp") as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for setting in (*SETTINGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(setting)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        home: Mapping[str, str] = {
            "HOME": folder,
            "TMPDIR": folder,
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
        }
        service = Service(shutil.which("chromedriver"), env=home)
        driver = webdriver.Chrome(options=options, service=service)
        try:
            yield Browser(driver, Path(folder))
        finally:
            driver.quit()
            WebDriverWait(driver, WAIT, poll_frequency=0.1).until(
                lambda _: not using(folder), f"{using(folder)} live on"
            )


def using(folder: str) -> list[int]:
    """Return the processes that were started with a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if folder.encode() in command and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found
