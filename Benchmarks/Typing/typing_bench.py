#!/usr/bin/env python3
"""Times keys at a shell, in Python and in vim from their press to their place on the screen.

typing_bench.py CLIENT ROUND_TRIP_MS SEED PORT KEY KNOWN_HOSTS [BRIDGECTL]

CLIENT is ssh, mosh or bridgectl; PORT the one of an sshd on 127.0.0.1 where root logs in with KEY.
A line of text is typed with mistakes that are mended, 70 to 220 ms between two keys, through a delay
line. A key counts as shown when the line and the cursor are as they become by it; a wrong screen
is one on which the line is as it never becomes. Needs pyte, python3 and vim; mosh for mosh.
"""
import asyncio, fcntl, os, pty, random, re, select, shlex, statistics, struct, subprocess, sys
import termios, threading, time

import pyte

CLIENT, ROUND_TRIP, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PORT, KEY, KNOWN_HOSTS = int(sys.argv[4]), sys.argv[5], sys.argv[6]
HALF = ROUND_TRIP / 2000
SHELL = ["env", "PS1=$ ", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "bash", "--norc", "--noprofile"]
LINES = {
    "bash": [
        "ls -la /tmp | head -3", "git status --short", 'echo "hello world" > /dev/null',
        "for i in 1 2 3; do echo $i; done", "cd /usr/share && pwd", "grep -rn main /etc/hostname",
    ],
    "python": [
        "import os, sys, json", "print(sum(range(100)))",
        'names = [n for n in os.listdir("/") if "s" in n]', "len(names) > 3",
    ],
    "vim": [
        "The quick brown fox jumps", "over the lazy dog, and then", "returns to its burrow.",
        "    indented = value + 1",
    ],
}


class DelayedDatagrams:
    """Datagrams to a port of this machine and back, each half a round trip later."""

    def __init__(self, target):
        self.target, self.peer, self.port = target, None, None

    async def start(self):
        loop, relay = asyncio.get_running_loop(), self

        class Up(asyncio.DatagramProtocol):
            def datagram_received(self, data, address):
                loop.call_later(HALF, lambda: relay.down.sendto(data, relay.peer))

        class Down(asyncio.DatagramProtocol):
            def datagram_received(self, data, address):
                relay.peer = address
                loop.call_later(HALF, lambda: relay.up.sendto(data))

        self.up, _ = await loop.create_datagram_endpoint(Up, remote_addr=("127.0.0.1", self.target))
        self.down, _ = await loop.create_datagram_endpoint(Down, local_addr=("127.0.0.1", 0))
        return self.down.get_extra_info("sockname")[1]


async def delayed_stream(target):
    """A port from which connections go to a port of this machine, each way half a round trip late."""

    async def carry(reader, writer):
        loop, queue = asyncio.get_running_loop(), asyncio.Queue()

        async def deliver():
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0, due - loop.time()))
                if not data:
                    return writer.close()
                writer.write(data)

        task = loop.create_task(deliver())
        data = True
        while data:
            data = await reader.read(65536)
            queue.put_nowait((loop.time() + HALF, data))
        await task

    async def accept(reader, writer):
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer),
                             return_exceptions=True)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    return server.sockets[0].getsockname()[1]


def in_background(make):
    """The result of a coroutine that goes on running on an event loop of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return asyncio.run_coroutine_threadsafe(make, loop).result()


def command(environment):
    if CLIENT == "mosh":
        text = subprocess.run(["mosh-server", "new", "-i", "127.0.0.1", "--"] + SHELL, text=True,
                              capture_output=True, env=environment).stdout
        port, environment["MOSH_KEY"] = re.search(r"MOSH CONNECT (\d+) (\S+)", text).groups()
        return ["mosh-client", "127.0.0.1", str(in_background(DelayedDatagrams(int(port)).start()))]
    port = str(in_background(delayed_stream(PORT)))
    if CLIENT == "ssh":
        options = ["ssh", "-tt", "-o", "UserKnownHostsFile=" + KNOWN_HOSTS,
                   "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR"]
    else:
        options = [sys.argv[7], "connect", "-q", "-t", "--known-hosts", KNOWN_HOSTS,
                   "--host-key", "accept-new"]
    return options + ["-p", port, "-i", KEY, "root@127.0.0.1", "--", shlex.join(SHELL)]


class Line:
    """What a line becomes, key by key."""

    def __init__(self, base):
        self.base, self.states, self.times, self.seen, self.wrong = base, [("", 0)], [0], 0, 0

    def look(self, screen, now):
        text = screen.display[screen.cursor.y][self.base:].rstrip()
        column = screen.cursor.x - self.base
        for index in reversed(range(len(self.states))):
            if (text, column) == (self.states[index][0].rstrip(), self.states[index][1]):
                fresh = range(self.seen + 1, index + 1)
                self.seen = max(self.seen, index)
                return [(now - self.times[i]) * 1000 for i in fresh]
        self.wrong += column >= 0
        return []


class Terminal:
    def __init__(self, random):
        environment = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8")
        arguments = command(environment)
        self.random, self.line, self.samples, self.wrong = random, None, [], 0
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.execvpe(arguments[0], arguments, environment)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.screen = pyte.Screen(80, 24)
        self.stream = pyte.ByteStream(self.screen)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.descriptor], [], [], left)[0]:
                return
            # pyte takes these for renditions.
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                return
            self.stream.feed(re.sub(rb"\x1b\[[>?][0-9;]*m", b"", data))
            if self.line:
                self.samples += self.line.look(self.screen, time.monotonic())

    def wait(self, test, limit=20):
        end = time.monotonic() + limit
        while not test(self.screen):
            if time.monotonic() > end:
                sys.exit("%s: %s" % (CLIENT, [row for row in self.screen.display if row.strip()]))
            self.run(0.02)

    def prompt(self, text):
        self.wait(lambda screen: screen.display[screen.cursor.y].startswith(text))

    def press(self, keys):
        os.write(self.descriptor, keys.encode())

    def type(self, text):
        line = self.line = Line(self.screen.cursor.x)
        keys = []
        for key in text:
            if key.isalpha() and self.random.random() < 0.06:
                keys += ["x", "\x7f"]
            keys.append(key)
        for key in keys:
            self.run(self.random.uniform(0.07, 0.22))
            old = line.states[-1][0]
            new = old[:-1] if key == "\x7f" else old + key
            line.states.append((new, len(new)))
            line.times.append(time.monotonic())
            self.press(key)
        end = time.monotonic() + 3
        while line.seen < len(keys) and time.monotonic() < end:
            self.run(0.02)
        self.wrong += line.wrong
        self.line = None
        if line.seen < len(keys):
            sys.exit("%s: %r never came" % (CLIENT, line.states[line.seen + 1]))


def report(name, samples, wrong):
    samples = sorted(samples)
    at_once = 100 * sum(sample < 20 for sample in samples) // len(samples)
    print("%-9s %3d ms  %-6s %3d keys: median %5.1f ms, 90 %% %5.1f ms, at once %3d %%, "
          "wrong screens %d" % (CLIENT, ROUND_TRIP, name, len(samples), statistics.median(samples),
                                samples[len(samples) * 9 // 10], at_once, wrong))


def main():
    terminal = Terminal(random.Random(SEED))
    rest = ROUND_TRIP / 1000 + 0.3
    samples, wrong = [], 0
    terminal.prompt("$ ")
    terminal.run(1)
    for program, lines in LINES.items():
        prompt = {"bash": "$ ", "python": ">>> "}.get(program)
        if program == "python":
            terminal.press("python3 -q\r")
            terminal.prompt(prompt)
        elif program == "vim":
            terminal.press("\x04")
            terminal.prompt("$ ")
            terminal.press("vim -u NONE -N -n\r")
            terminal.wait(lambda screen: screen.display[3][:1] == "~")
            terminal.run(rest)
            terminal.press("i")
        terminal.run(rest)
        terminal.samples, terminal.wrong = [], 0
        for line in lines:
            terminal.type(line)
            terminal.press("\r")
            terminal.run(rest)
            if prompt:
                terminal.prompt(prompt)
        report(program, terminal.samples, terminal.wrong)
        samples, wrong = samples + terminal.samples, wrong + terminal.wrong
    report("all", samples, wrong)
    terminal.press("\x1b:q!\r")
    terminal.run(rest)
    terminal.press("exit\r")
    terminal.run(rest)
    os.close(terminal.descriptor)
    os.waitpid(terminal.process, 0)


main()
