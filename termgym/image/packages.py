"""How this machine fetches packages, lent to a program that may use the network, and only while it runs.

Mirrors, proxies, certificates and their credentials lie in a directory of /dev, which is no part of the image, and in
variables: none of it is in the layer afterwards.
"""

from __future__ import annotations

import os
import re
import subprocess
from configparser import ConfigParser
from io import StringIO
from pathlib import Path

from termgym.image.confinement import GIVEN
from termgym.image.making import make_file

_CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS",
                 "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "NIX_SSL_CERT_FILE", "AWS_CA_BUNDLE")  # fmt: skip
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy")
_PASSED = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES",
           "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_HTTP_TIMEOUT", "NPM_CONFIG_REGISTRY",
           "npm_config_registry", "GOPROXY", "GONOSUMDB", "GOFLAGS", "CARGO_REGISTRIES_CRATES_IO_PROTOCOL")  # fmt: skip
_APT = re.compile(r"^Acquire::(?:https?|ftp|Retries|ForceIPv[46])\b[^;]*;$")
_APT_FILE = re.compile(r"^Acquire::https?::(?:CaInfo|SslCert|SslKey)\b")
_PIP_FILES = ("cert", "client-cert", "find-links", "cache-dir", "no-index", "log", "python")
_PLACE = re.compile(r"file://\S*\s*")
_NPMRC = ("/etc/npmrc", "/usr/etc/npmrc")


def host_setup(place: Path, *, one_user: bool) -> dict[str, str]:
    """Fill a directory that will be seen as ``GIVEN``; return the variables that lead to it.

    Args:
        place: the directory.
        one_user: whether root is the only user, so that apt cannot become another one.
    """
    lent = [name for name in os.environ if name in _PASSED or name.lower() in _PROXIES]
    env = {name: _without_places(os.environ[name]) for name in lent}
    bundle = _bundle()
    if bundle is not None:
        make_file(place / "certificates.pem", bundle)
        env |= dict.fromkeys(_CERTIFICATES, f"{GIVEN}/certificates.pem")
    make_file(place / "pip.conf", _pip_configuration().encode())
    env["PIP_CONFIG_FILE"] = f"{GIVEN}/pip.conf"
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    env["PIP_ROOT_USER_ACTION"] = "ignore"
    make_file(place / "apt.conf", _apt_configuration(place, one_user=one_user, has_bundle=bundle is not None).encode())
    env["APT_CONFIG"] = f"{GIVEN}/apt.conf"
    npmrc = next((Path(path) for path in _NPMRC if os.path.isfile(path)), None)
    if npmrc is not None:
        make_file(place / "npmrc", npmrc.read_bytes())
        env["NPM_CONFIG_GLOBALCONFIG"] = f"{GIVEN}/npmrc"
    return env


def _bundle() -> bytes | None:
    """Return the certificates that this machine trusts."""
    named = (os.environ.get(name, "") for name in _CERTIFICATES)
    return next((Path(path).read_bytes() for path in (*named, *_BUNDLES) if path and os.path.isfile(path)), None)


def _pip_configuration() -> str:
    """Return pip's settings on this machine, without those that name its files."""
    home = Path.home()
    settings = ConfigParser(interpolation=None, strict=False)
    settings.read(["/etc/pip.conf", home / ".config/pip/pip.conf", home / ".pip/pip.conf"])
    for section in settings.sections():
        for name, value in settings.items(section):
            if name in _PIP_FILES or not (left := _without_places(value)):
                settings.remove_option(section, name)
            else:
                settings.set(section, name, left)
    text = StringIO()
    settings.write(text)
    return text.getvalue()


def _without_places(text: str) -> str:
    """Leave out addresses of this machine's directories, which are not in the image."""
    return _PLACE.sub("", text).strip()


def _apt_configuration(place: Path, *, one_user: bool, has_bundle: bool) -> str:
    lines = [line for line in _dumped().splitlines() if _APT.match(line) and not _APT_FILE.match(line)]
    if has_bundle:
        lines.append(f'Acquire::https::CaInfo "{GIVEN}/certificates.pem";')
    logins = [path for path in (Path("/etc/apt/auth.conf"), *sorted(Path("/etc/apt/auth.conf.d").glob("*.conf")))
              if os.access(path, os.R_OK)]  # fmt: skip
    if logins:
        make_file(place / "auth.conf", b"\n".join(path.read_bytes() for path in logins), 0o600)
        lines.append(f'Dir::Etc::netrc "{GIVEN}/auth.conf";')
    if one_user:
        lines.append('APT::Sandbox::User "root";')
    return "".join(f"{line}\n" for line in lines)


def _dumped() -> str:
    """Return apt's configuration on this machine, or nothing where there is no apt."""
    try:
        return subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True, timeout=20).stdout
    except FileNotFoundError:
        return ""
