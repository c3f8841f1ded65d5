"""The volunteer's proxy in the engine: what the preferences say, with the password from where it is kept."""

import asyncio
import logging
from collections.abc import Callable

from core.api.errors import WorldError
from core.api.preferences.preferences import Values
from core.api.proxy import PASSWORD, Proxy
from core.conditions.desktop_proxy import DesktopProxy
from core.engine.projects.credentials import Credentials
from core.store.projects import Keeper
from core.system import proxy

_log = logging.getLogger(__name__)


class HttpProxy:
    """All methods are called in the event loop."""

    def __init__(self, credentials: Credentials, on_change: Callable[[Proxy], None]) -> None:
        self._credentials, self._on_change = credentials, on_change
        proxy.use_desktop(DesktopProxy())
        self._task: asyncio.Task[None] | None = None

    def apply(self, preferences: Values) -> None:
        """Use what they say; the keyring may take seconds to give the password."""
        chosen = Proxy(preferences["proxy"], preferences["proxy_address"])
        keeper: Keeper | None = (preferences[PASSWORD] or None) if chosen.choice == "own" else None
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if keeper:
            self._task = asyncio.create_task(self._with_password(chosen, keeper))
        else:
            self._use(chosen)

    async def current(self) -> Proxy:
        """The proxy that is in use once the keyring has answered."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
        return proxy.in_use()

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _with_password(self, chosen: Proxy, keeper: Keeper) -> None:
        password = None
        try:
            password = await self._credentials.find(PASSWORD, keeper)
        except WorldError as error:
            _log.warning("The proxy's password cannot be read: %s", error)
        self._use(Proxy(chosen.choice, chosen.address, password))

    def _use(self, chosen: Proxy) -> None:
        if chosen != proxy.in_use():
            proxy.use(chosen)
            self._on_change(chosen)
