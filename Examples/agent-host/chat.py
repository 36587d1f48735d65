#!/usr/bin/env python3
"""A chat for agent-host, at ws://127.0.0.1:8765/: prints what comes, and acknowledges it.

A line of its input is an answer: AGENT NUMBER OPTION. Needs the package websockets.
"""
import asyncio
import json
import sys

import websockets

sockets = set()
seen = set()


async def talk(socket):
    sockets.add(socket)
    print("-- connected", flush=True)
    try:
        async for text in socket:
            message = json.loads(text)
            if "id" not in message:
                print("--", text, flush=True)
                continue
            again = " (again)" if message["id"] in seen else ""
            seen.add(message["id"])
            print(message["text"] + again, flush=True)
            # Not before the message has had its effect.
            await socket.send(json.dumps({"ack": message["id"]}))
    except websockets.ConnectionClosed:
        pass
    sockets.discard(socket)
    print("-- gone", flush=True)


async def answer():
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        agent, number, option = line.decode().split()
        said = {"agent": agent, "approval": int(number), "option": option, "by": "ada"}
        for socket in list(sockets):
            await socket.send(json.dumps(said))


async def main():
    async with websockets.serve(talk, "127.0.0.1", 8765):
        await answer()
        await asyncio.Future()


try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
