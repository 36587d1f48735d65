"""The peers and the browsers of `bridge-bench console`: idle.py BRIDGE-BENCH LINKS BROWSERS SECONDS.

Prints what the page's process takes while nothing happens, and how long it takes until all browsers
have the loss of a link.
"""
import asyncio
import json
import os
import sys
import time

import websockets


class Browser:
    """Reads the page's events, and remembers when a link was seen to be lost."""

    def __init__(self):
        self.lost = {}
        self.events = 0
        self.bytes = 0

    async def open(self, port, token):
        self.reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"GET /api/events HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        status = await self.reader.readline()
        assert b" 200 " in status, status
        self.writer = writer
        self.task = asyncio.create_task(self.read())

    async def read(self):
        rest = b""
        while chunk := await self.reader.read(65536):
            self.bytes += len(chunk)
            *blocks, rest = (rest + chunk).split(b"\n\n")
            for block in blocks:
                self.events += block.count(b"event: ")
                if b"event: link\n" not in block:
                    continue
                line = next(line for line in block.split(b"\n") if line.startswith(b"data: "))
                link = json.loads(line[6:])
                if link["state"] != "up":
                    self.lost.setdefault(link["name"], time.monotonic())


async def main(bench, links, browsers, seconds):
    sockets = []

    async def peer(socket, path=None):
        sockets.append(socket)
        await socket.wait_closed()

    server = await websockets.serve(peer, "127.0.0.1", 0, ping_interval=None, compression=None)
    port = server.sockets[0].getsockname()[1]
    program = await asyncio.create_subprocess_exec(
        bench, "console", str(port), str(links), str(seconds),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    address = (await program.stdout.readline()).decode().split()[1]
    assert (await program.stdout.readline()).strip() == b"READY"
    page, token = address.split("/#")
    pages = [Browser() for _ in range(browsers)]
    for browser in pages:
        await browser.open(int(page.rsplit(":", 1)[1]), token)
    await asyncio.sleep(20)
    before = [(browser.events, browser.bytes) for browser in pages]
    program.stdin.write(b"go\n")
    figures = json.loads(await program.stdout.readline())
    figures["events_per_browser"] = max(b.events - old[0] for b, old in zip(pages, before))
    figures["KiB_per_browser"] = round(max(b.bytes - old[1] for b, old in zip(pages, before)) / 1024, 1)
    times = []
    for number in range(20):
        seen = [set(browser.lost) for browser in pages]
        begun = time.monotonic()
        sockets[number * 7 % links].transport.abort()
        for _ in range(300):
            await asyncio.sleep(0.01)
            if all(set(browser.lost) - old for browser, old in zip(pages, seen)):
                break
        new = [max((browser.lost[name] for name in set(browser.lost) - old), default=None) for browser, old in zip(pages, seen)]
        assert all(new), "a browser has not had the loss"
        times.append((max(new) - begun) * 1000)
        await asyncio.sleep(0.2)
    times.sort()
    figures.update(browsers=browsers, loss_seen_ms=round(times[len(times) // 2], 1), loss_seen_max_ms=round(times[-1], 1))
    print(json.dumps(figures))
    program.stdin.write(b"end\n")
    program.stdin.close()
    await asyncio.wait_for(program.wait(), 30)
    for browser in pages:
        browser.task.cancel()
    server.close()


os.environ.setdefault("LC_ALL", "C.UTF-8")
asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:5])))
