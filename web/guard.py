"""What every request passes: the host and the site it comes from; and the headers of every answer.

Any page on the internet can make a browser send requests here. A request counts only if it names
this server as its host, and one that changes anything only if it comes from our own pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.config import WebConfig, is_loopback
from web.problems import OTHER_SITE, OURS, WRONG_HOST, Problem
from web.sources import places, say

READS: Final = ("GET", "HEAD")
API: Final = "/api/"
CSP: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
ALWAYS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Guard:
    def __init__(self, app: ASGIApp, config: WebConfig, port: int) -> None:
        self._app = app
        self._hosts = allowed_hosts(config, port)
        scheme = "https" if config.https else "http"
        self._origins = {f"{scheme}://{host}" for host in self._hosts}
        self._headers = dict(ALWAYS)
        if config.https:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope["method"], scope["path"], Headers(scope=scope))
            await self._app(scope, receive, sending)
        except Problem as problem:
            await problem.response()(scope, receive, sending)
        except ClientDisconnect:
            pass
        except Exception as error:  # answered by now; one request may fail, the server may not
            _tell(scope, error)

    def _check(self, method: str, path: str, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].strip().lower() not in self._hosts:
            raise Problem(421, WRONG_HOST, "Host: expected a name of this server")
        site = headers.get("sec-fetch-site", "")
        reads = method in READS
        if site not in ("", "same-origin") and not (reads and _from_outside(path, site)):
            raise Problem(403, OTHER_SITE, "Sec-Fetch-Site: expected same-origin")
        for origin in headers.getlist("origin"):
            if origin.strip().lower() not in self._origins:
                raise Problem(403, OTHER_SITE, "Origin: expected one of our own pages")


def _from_outside(path: str, site: str) -> bool:
    """A person types the address of anything; a link elsewhere may lead to a page, not to data."""
    return site == "none" or not path.startswith(API)


def allowed_hosts(config: WebConfig, port: int) -> frozenset[str]:
    """As browsers write them: without the port if it is the scheme's own."""
    usual = 443 if config.https else 80
    names = [host for host in config.hosts if ":" not in host.rpartition("]")[2]]
    exact = [host for host in config.hosts if host not in names]
    if is_loopback(config.address) and not config.behind_proxy:
        names += ["127.0.0.1", "localhost", "[::1]"]
    if config.behind_proxy:
        return frozenset((*names, *exact))
    return frozenset(
        (*exact, *(f"{name}:{port}" for name in names), *(names if port == usual else ()))
    )


def _tell(scope: Scope, error: Exception) -> None:
    at = f"{scope['method']} {scope['path'][:100]}"
    say(f"{at}: {type(error).__name__} in {places(error)} ({OURS})")
