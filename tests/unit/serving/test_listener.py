"""The socket that connections are taken from."""

from __future__ import annotations

import asyncio
import socket

from heedful.serving.listener import Listener
from waiting import PATIENCE


class _Noted(asyncio.Protocol):
    """A protocol that keeps the transport of its connection."""

    def __init__(self, made: asyncio.Future[asyncio.BaseTransport]) -> None:
        self._made = made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep it."""
        self._made.set_result(transport)


def test_an_answer_in_two_pieces_does_not_wait_for_the_client_to_confirm_the_first() -> None:
    """A client confirms a piece after 40 ms; every answer on a connection that stays open took that long."""

    async def option() -> int:
        listening = socket.create_server(("127.0.0.1", 0))
        made: asyncio.Future[asyncio.BaseTransport] = asyncio.get_running_loop().create_future()
        listener = Listener(listening, lambda: _Noted(made), print, at_a_time=1)
        with socket.create_connection(listening.getsockname()[:2], timeout=PATIENCE):
            transport = await asyncio.wait_for(made, PATIENCE)
            found = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            transport.close()
            await listener.close(PATIENCE)
        return int(found)

    assert asyncio.run(option()) != 0
