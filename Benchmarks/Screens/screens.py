#!/usr/bin/env python3
"""Compares what a new client of a session is shown with what a terminal shows that saw every byte.

screens.py BRIDGE_HOST STREAMS SEED

Each stream is printed by a program on a terminal under `bridge-host` up to a random byte; a new
client attaches, and then the rest is printed. Streams are of programs that are recorded here, the
same with bytes changed, and made of random sequences; half of them come behind more text than a
client is sent, and some meet a terminal of another size on their way. Terminals that are not ours
judge: libghostty-vt (pyghostty) by text, rendition, cursor and modes; pyte by text and cursor,
where it knows the sequences; xterm under Xvfb by what it prints of its screen (MC), for some,
where the size changes, and wherever another one sees a difference: then xterm decides. What differs
is listed, and kept in .build/screens.
"""

import collections, fcntl, os, pty, random, re, select, signal, struct, subprocess, sys, tempfile
import termios, time

import pyghostty, pyte
from pyghostty.core import check, ffi, init_sized, lib, union_fn

# The program; others that measure it set it.
BRIDGE_HOST = sys.argv[1] if len(sys.argv) > 1 else "bridge-host"
SIZES = [(80, 24), (100, 30), (45, 20), (132, 43)]
MODES = [
    (1, False),
    (4, True),
    (6, False),
    (7, False),
    (25, False),
    (66, False),
    (1000, False),
    (1002, False),
    (1003, False),
    (1004, False),
    (1006, False),
    (2004, False),
]
PING, PONG = 10, 11
ALTERNATE = rb"\x1b\[\?(?:1049|1047|47)"
KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.build/screens")


# Streams.


def record(command, keys, size, limit=6):
    """What a program prints on a terminal of this size; `keys` are typed a moment apart."""
    child, master = pty.fork()
    if child == 0:
        os.environ.update(
            TERM="xterm-256color",
            LC_ALL="C.UTF-8",
            PS1="$ ",
            LINES=str(size[1]),
            COLUMNS=str(size[0]),
            EDITOR="vi",
        )
        for name in ("TMUX", "LS_COLORS"):
            os.environ.pop(name, None)
        os.execvp("/bin/sh", ["sh", "-c", f"sleep 0.1; {command}"])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    output, end, waiting = b"", time.time() + limit, list(keys)
    while time.time() < end:
        if select.select([master], [], [], 0.25)[0]:
            try:
                output += os.read(master, 65536)
            except OSError:
                break
        elif waiting:
            os.write(master, waiting.pop(0))
        else:
            break
    os.kill(child, signal.SIGKILL)
    os.close(master)
    os.waitpid(child, 0)
    return output


PROGRAMS = {
    "vim": (
        "vim -u NONE -N {text}",
        [
            b":syntax on\r",
            b"/the\r",
            b"Gihello \xe6\x97\xa5\x1b",
            b":split\r",
            b"\x04",
            b"dd",
            b":q\r",
        ],
    ),
    "less": ("less -R {text}", [b" ", b"/the\r", b"n", b"G", b"k", b"q"]),
    "htop": ("htop -d 3", [b"\x1b[B", b"t", b"H", b"q"]),
    "top": ("top -d 0.3", [b"c", b"1", b"q"]),
    "tmux": (
        "tmux -f /dev/null -L {socket} new 'sh'",
        [
            b"ls -la /etc | head -40\r",
            b"\x02%",
            b"top -bn1 | head\r",
            b'\x02"',
            b"echo \xe6\xbc\xa2\r",
            b"\x02d",
        ],
    ),
    "mc": ("mc -u /etc", [b"\x1b[B\x1b[B", b"\t", b"\x1bOR", b"\x1b\x1b", b"\x1b0", b"\r"]),
    "fzf": ("seq 1000 | fzf --height=40%", [b"1", b"2", b"\x1b[A", b"\r"]),
    "fzf-full": ("ls /etc | fzf --preview 'head -50 /etc/passwd'", [b"a", b"\x1b[A", b"\x1b"]),
    "nano": ("nano {text}", [b"some words", b"\x17the\r", b"\x0b\x0b", b"\x18", b"n"]),
    "emacs": (
        "emacs -nw -Q {text}",
        [b"\x0e\x0e", b"\x18" + b"2", b"\x13the", b"\x07", b"\x18\x03"],
    ),
    "git-log": ("git -C {repository} log --graph --color=always --stat | cat", []),
    "git-log-pager": ("git -C {repository} log --oneline --graph", [b" ", b" ", b"b", b"q"]),
    "tig": ("cd {repository} && tig", [b"j", b"\r", b"q", b"q"]),
    "python": ("python3 -q", [b"print('a' * 200)\r", b"help(str)\r", b" ", b"q", b"exit()\r"]),
    "man": ("man bash", [b" ", b"/shell\r", b"q"]),
    "watch": ("watch -n 0.3 -d date", [b"", b"", b"q"]),
    "pv": ("head -c 3000000 /dev/zero | pv -L 1M >/dev/null", []),
    "dialog": ("dialog --menu 'Which one?' 15 40 5 1 one 2 two 3 three", [b"\x1b[B", b"\t", b"\r"]),
    "w3m": ("w3m -dump_both /usr/share/doc; w3m /etc/passwd", [b" ", b"q", b"y"]),
    "apt": ("apt-cache show bash coreutils | fold -w 70", []),
    "ls": ("ls --color=always -la /etc /usr/bin | head -300", []),
    "bash": (
        "bash --norc --noprofile -i",
        [
            b"echo one two\x1b[D\x1b[D\x1b[Dx\r",
            b"\x12ech\r",
            b"for i in 1 2 3; do echo $i; done\r",
            b"\x0c",
            b"exit\r",
        ],
    ),
    "dashes": (
        "bash -c 'for i in $(seq 60); do "
        'printf "\\r%3d%% [%-50s]" $i $(printf =%.0s $(seq $i)); done; echo\'',
        [],
    ),
    "wide": (
        "printf '\\346\\227\\245\\346\\234\\254\\350\\252\\236 e\\314\\201 "
        "\\360\\237\\230\\200 %.0s' $(seq 200)",
        [],
    ),
}


def recordings(folder):
    """All programs that are installed, at two sizes."""
    text = os.path.join(folder, "text.c")
    with open(text, "w") as file:
        for number in range(200):
            file.write(
                f"int function_{number}(void) {{ return {number}; }} "
                f"/* the {number}th \u00e9\u65e5 */\n"
            )
    here = os.path.dirname(os.path.abspath(__file__))
    streams, missing = {}, []
    for name, (command, keys) in PROGRAMS.items():
        program = command.split()[0]
        if subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode:
            missing.append(name)
            continue
        for size in SIZES[:2]:
            command_line = command.format(
                text=text, socket=f"screens{os.getpid()}", repository=here
            )
            streams[f"{name} {size[0]}x{size[1]}"] = (record(command_line, keys, size), size)
    subprocess.run(["tmux", "-L", f"screens{os.getpid()}", "kill-server"], capture_output=True)
    return streams, missing


def generated(rng, size):
    """Sequences as programs send them, in any order. Not what xterm and Ghostty see
    differently: DECSTR, the alternate screen in a color, combining characters without DECAWM. Nor
    what xterm does by mistake: behind a cursor that is restored, inverse video brings back the
    background that was forgotten."""
    columns, rows = size
    n = lambda low, high: rng.randint(low, high)
    words = [
        "total",
        "the quick",
        "src/main.c",
        "\u65e5\u672c\u8a9e",
        "e\u0301a\u0308",
        "\U0001f600",
        "\u2500\u2502",
        "ok",
        "Allow this? [y/n]",
    ]
    isInverse = rng.random() < 0.5
    text = lambda: rng.choice(words) * n(1, 4)
    color = lambda: rng.choice(
        (["7", "27"] if isInverse else [])
        + [
            f"3{n(0, 7)}",
            f"9{n(0, 7)}",
            f"4{n(0, 7)}",
            f"38;5;{n(0, 255)}",
            f"48;5;{n(0, 255)}",
            f"38;2;{n(0, 255)};{n(0, 255)};{n(0, 255)}",
            "1",
            "2",
            "3",
            "4",
            "9",
            "22",
            "24",
            "39",
            "49",
            "4:3",
            "",
        ]
    )

    def frame():
        lines = n(2, 6)
        drawn = "".join(f"\x1b[2K{text()}\r\n" for _ in range(lines))
        return drawn + "".join("\x1b[2K\x1b[1A" for _ in range(lines)) + "\x1b[G" + drawn

    def inline():
        top = n(2, rows // 2)
        return (
            f"\x1b[1;{top}r\x1b[{top};1H"
            + "".join(f"\r\n{text()}" for _ in range(n(1, 5)))
            + "\x1b[r"
            + f"\x1b[{rows};1H"
        )

    pieces = [
        (30, text),
        (12, lambda: "\r\n"),
        (10, lambda: f"\x1b[{n(1, rows)};{n(1, columns)}H"),
        (12, lambda: f"\x1b[{color()}m"),
        (6, lambda: f"\x1b[{rng.choice('ABCDEF')}".replace("[", f"[{n(1, 5)}")),
        (4, lambda: f"\x1b[{n(0, 2)}K"),
        (2, lambda: f"\x1b[{n(0, 2)}J"),
        (3, lambda: f"\x1b[{n(1, 4)}{rng.choice('@PLMXST')}"),
        (2, lambda: f"\x1b[{n(1, rows - 2)};{n(rows // 2, rows)}r"),
        (1, lambda: "\x1b[r"),
        (3, lambda: "\x1bM"),
        (2, lambda: "\x1bD"),
        (1, lambda: "\x1bE"),
        (2, lambda: "\t"),
        (1, lambda: "\x1bH"),
        (1, lambda: "\x1b[3g"),
        (2, lambda: "\x1b7"),
        (2, lambda: "\x1b8"),
        (1, lambda: "\x1b[m\x1b[?1049h" + text()),
        (1, lambda: text() + "\x1b[?1049l"),
        (1, lambda: "\x1b(0lqqk\x1b(B"),
        (1, lambda: f"\x1b[?{rng.choice([25, 2004, 1000, 1002, 1006, 1004, 1])}{rng.choice('hl')}"),
        (1, lambda: f"\x1b[4{rng.choice('hl')}"),
        (1, lambda: f"x\x1b[{n(1, 9)}b"),
        (1, lambda: f"\x1b]2;title {n(0, 9)}\x07"),
        (1, lambda: f"\x1b]8;;http://h/{n(0, 9)}\x1b\\link\x1b]8;;\x1b\\"),
        (2, frame),
        (2, inline),
        (1, lambda: "\x08 \x08"),
        (1, lambda: f"\x1b[{n(1, columns)}G"),
        (1, lambda: f"\x1b[{n(1, rows)}d"),
        (1, lambda: "\x1b="),
        (1, lambda: "\x1b>"),
        (1, lambda: "\x1b[?2026h" + text() + "\x1b[?2026l"),
    ]
    makers, weights = [maker for _, maker in pieces], [weight for weight, _ in pieces]
    made = "".join(maker() for maker in rng.choices(makers, weights, k=n(50, 4000)))
    return (re.sub(r"\x1b8|\x1b\[\?1049l", "", made) if isInverse else made).encode()


def changed(rng, stream):
    """The stream with some of its bytes flipped, left out or repeated."""
    data = bytearray(stream)
    for _ in range(rng.randint(1, 20)):
        if len(data) < 2:
            break
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.randint(1, 12))
        if (way := rng.randrange(3)) == 0:
            data[start] ^= 1 << rng.randrange(8)
        elif way == 1 and end - start < len(data):
            del data[start:end]
        else:
            data[start:start] = data[start:end]
    # What a terminal is asked for, or is asked to do to its window, changes no screen.
    return re.sub(rb"\x1b\[[0-?]*[ -/]*[cnitxy]|\x1bZ|\x05", b"", bytes(data))


def history(rng):
    """More text than is sent to a client as it is."""
    words = [
        "Compiling",
        "module",
        "warning:",
        "\x1b[32mok\x1b[m",
        "\x1b[1;31merror\x1b[m",
        "\u65e5",
    ]
    lines = (
        " ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(rng.randint(700, 2000))
    )
    return ("\r\n".join(lines) + "\r\n").encode()


# The session.


def field(key, value=b""):
    return bytes([len(key)]) + key.encode() + struct.pack(">I", len(value)) + value


def frame(kind, payload, offset=0):
    return struct.pack(">BBHIQ", kind, 0, 0, len(payload), offset) + payload


def fields(payload):
    found, at = {}, 0
    while at < len(payload):
        end = at + 1 + payload[at]
        length = struct.unpack(">I", payload[end : end + 4])[0]
        found[payload[at + 1 : end].decode()] = payload[end + 4 : end + 4 + length]
        at = end + 4 + length
    return found


def packed(size):
    return struct.pack(">HHHH", *size, 0, 0)


class Peer:
    """One verb of bridge-host, and frames with it."""

    def __init__(self, verb, *arguments):
        self.process = subprocess.Popen(
            [BRIDGE_HOST, verb, *arguments, "--marker", "MARK"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.data, self.isMarked = b"", False

    def send(self, *args):
        self.process.stdin.write(frame(*args))

    def next(self, limit=20):
        end = time.time() + limit
        while True:
            if not self.isMarked and b"MARK" in self.data:
                self.data, self.isMarked = self.data.split(b"MARK", 1)[1], True
            if self.isMarked and len(self.data) >= 16:
                kind, _, _, length, offset = struct.unpack(">BBHIQ", self.data[:16])
                if len(self.data) >= 16 + length:
                    payload, self.data = self.data[16 : 16 + length], self.data[16 + length :]
                    return kind, payload, offset
            if not select.select([self.process.stdout], [], [], max(0, end - time.time()))[0]:
                raise TimeoutError("no frame")
            more = os.read(self.process.stdout.fileno(), 1 << 18)
            if not more:
                raise EOFError("the host ended")
            self.data += more

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Session:
    """A program on a terminal that prints what it is given."""

    def __init__(self, folder, size):
        self.id, self.size, self.printed = os.urandom(16), size, 0
        self.client = None
        self.path = os.path.join(folder, self.id.hex())
        os.mkfifo(self.path)
        peer = Peer("start")
        peer.send(
            12,
            field("session", self.id)
            + field("command", f"stty raw -echo; exec cat {self.path}".encode())
            + field("terminal", b"xterm-256color")
            + field("size", packed(size)),
        )
        peer.next()
        peer.close()
        self.pipe = os.open(self.path, os.O_WRONLY)

    def print(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.pipe, view[:65536]) :]
        self.printed += len(data)

    def settle(self):
        """Waits until the keeper has all that was printed."""
        while True:
            peer = Peer("list")
            try:
                while True:
                    kind, payload, _ = peer.next()
                    found = fields(payload) if kind == 13 else {}
                    if (
                        found.get("session") == self.id
                        and int.from_bytes(found["newest"]) == self.printed
                    ):
                        return
            except EOFError:
                time.sleep(0.01)
            finally:
                peer.close()

    def resize(self, size):
        """The terminal has another size, once all that was printed is on it."""
        self.size = size
        self.settle()
        self.attach()
        self.client.close()

    def attach(self):
        self.client = Peer("attach", "--session", self.id.hex())
        while self.client.next()[0] != 129:
            pass
        self.client.send(
            1,
            field("versions", b"\1")
            + field("session", self.id)
            + field("client", os.urandom(16))
            + field("role", b"writer")
            + field("pings")
            + field("replay", b"screen")
            + field("window", (64 << 20).to_bytes(8))
            + field("size", packed(self.size)),
        )
        while (answer := self.client.next())[0] == PING:
            self.client.send(PONG, b"", answer[2])
        kind, payload, _ = answer
        assert kind == 2, (kind, payload)
        welcome = fields(payload)
        self.offset = int.from_bytes(welcome["resume"])
        return welcome.get("modes", b"")

    def read(self):
        """Output up to all that was printed."""
        output = b""
        while self.offset < self.printed:
            kind, payload, offset = self.client.next()
            if kind == PING:
                self.client.send(PONG, b"", offset)
            if kind == 4:
                assert offset == self.offset
                output += payload
                self.offset += len(payload)
        return output

    def end(self):
        os.close(self.pipe)
        if self.client:
            self.client.close()
        subprocess.run([BRIDGE_HOST, "kill", "--session", self.id.hex()], capture_output=True)
        os.unlink(self.path)


# The judges.


class Ghostty:
    def __init__(self, size):
        self.terminal = pyghostty.Terminal(*size, scrollback=0)

    def feed(self, data):
        self.terminal.feed(data)

    def state(self):
        """What a person sees, cell by cell; the cursor; the modes."""
        terminal, styles, rows = self.terminal, {}, []
        for y in range(terminal.size[1]):
            row = []
            for x in range(terminal.size[0]):
                row.append(self.cell(x, y, styles))
            while row and row[-1] == BLANK:
                row.pop()
            rows.append(row)
        return rows, terminal.cursor, tuple(terminal.mode(number, ansi) for number, ansi in MODES)

    def cell(self, x, y, styles):
        POINT.value.x, POINT.value.y = x, y
        check(GRID_REF(self.terminal._t[0], POINT[0], REF), "place")
        check(lib.ghostty_grid_ref_cell(REF, CELL), "cell")
        tag = self.value(lib.GHOSTTY_CELL_DATA_CONTENT_TAG, TAG)
        if tag == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
            return (
                " ",
                None,
                ("palette", self.value(lib.GHOSTTY_CELL_DATA_COLOR_PALETTE, PALETTE)),
                (),
            )
        if tag == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
            color = self.value(lib.GHOSTTY_CELL_DATA_COLOR_RGB, RGB)
            return " ", None, ("rgb", (color.r, color.g, color.b)), ()
        number = self.value(lib.GHOSTTY_CELL_DATA_STYLE_ID, STYLE_ID)
        if number not in styles:
            style = self.terminal.style(x, y)
            colors = style.pop("fg"), style.pop("bg")
            styles[number] = *colors, tuple(
                sorted((key, value) for key, value in style.items() if value)
            )
        foreground, background, attributes = styles[number]
        text = chr(self.value(lib.GHOSTTY_CELL_DATA_CODEPOINT, CODEPOINT) or 32)
        if tag == lib.GHOSTTY_CELL_CONTENT_CODEPOINT_GRAPHEME:
            check(lib.ghostty_grid_ref_graphemes(REF, SCALARS, len(SCALARS), LENGTH), "graphemes")
            text = "".join(map(chr, SCALARS[0 : LENGTH[0]]))
        if text == " ":
            # Of a blank only its background shows, where it is not inverted and has no line.
            attributes = tuple(pair for pair in attributes if pair[0] in SHOWN_ON_BLANKS)
            foreground = foreground if attributes else None
        return text, foreground, background, attributes

    @staticmethod
    def value(key, out):
        check(lib.ghostty_cell_get(CELL[0], key, out), "cell")
        return out[0]


BLANK = (" ", None, None, ())
SHOWN_ON_BLANKS = {"inverse", "underline", "underline_color", "strikethrough", "overline"}
GRID_REF = union_fn(
    "ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)"
)
POINT, REF = ffi.new("GhosttyPointS*"), init_sized("GhosttyGridRef")
POINT.tag = lib.GHOSTTY_POINT_TAG_ACTIVE
CELL, TAG, STYLE_ID = (
    ffi.new("GhosttyCell*"),
    ffi.new("GhosttyCellContentTag*"),
    ffi.new("uint16_t*"),
)
CODEPOINT, PALETTE, RGB = ffi.new("uint32_t*"), ffi.new("uint8_t*"), ffi.new("GhosttyColorRgb*")
SCALARS, LENGTH = ffi.new("uint32_t[64]"), ffi.new("size_t*")


class Pyte:
    """Its state is None behind a sequence that it fails at."""

    def __init__(self, size):
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        self.isLost = False

    def feed(self, data):
        try:
            self.stream.feed(data)
        except Exception:
            self.isLost = True

    def state(self):
        try:
            lines = [line.rstrip() for line in self.screen.display]
        except IndexError:
            self.isLost = True
        return None if self.isLost else (lines, (self.screen.cursor.x, self.screen.cursor.y))


def xterm(parts, folder):
    """What xterm shows behind bytes that come each at a size, cell by cell, by what it prints of its
    screen."""
    shown, size = os.path.join(folder, "x.out"), parts[-1][0]
    steps = ["stty raw -echo"]
    for number, (columns_and_rows, data) in enumerate(parts):
        steps += [resizing(*columns_and_rows)] if number else []
        steps.append(printing(data, folder, f"x.{number}"))
    # Of a row xterm prints no erased cells at its end, whatever their color: a column more has a
    # mark in each row.
    marks = "".join(f"\x1b[{row + 1};{size[0] + 1}H|" for row in range(size[1]))
    plain = "\x18\x0f\x1b(B\x1b[?6;69l\x1b[4l\x1b[r\x1b[m"
    steps += ["printf '\\030'", resizing(size[0] + 1, size[1])]
    steps += [printing((plain + marks).encode(), folder, "x.marks"), "printf '\\033[0i'"]
    steps += [f"for i in $(seq 1000); do [ -s {shown} ] && break; sleep 0.01; done; sleep 0.1"]
    first = parts[0][0]
    for _ in range(5):
        if os.path.exists(shown):
            os.unlink(shown)
        options = [
            f"printerCommand: cat >{shown}",
            "printAttributes: 2",
            "printerAutoClose: true",
            "allowWindowOps: true",
        ]
        subprocess.run(
            ["xterm", "-geometry", f"{first[0]}x{first[1]}", "-u8"]
            + [word for option in options for word in ("-xrm", f"XTerm*{option}")]
            + ["-e", "; ".join(steps)],
            capture_output=True,
            timeout=60,
            env=dict(os.environ, LC_ALL="C.UTF-8"),
        )
        if os.path.exists(shown) and os.path.getsize(shown):
            with open(shown, encoding="utf-8", errors="replace") as file:
                return [xterm_cells(line) for line in file.read().split("\n")]
    raise RuntimeError("xterm printed nothing")


def printing(data, folder, name):
    """The command that prints the bytes. A curly underline is a color to xterm: a plain one is not."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(re.sub(rb"([\[;])4:[1-5](?=[;m])", rb"\g<1>4", data))
    return f"cat {path}"


def resizing(columns, rows):
    """The command that gives xterm another size, and waits until it has it."""
    isThere = f"[ \"$(stty size)\" = '{rows} {columns}' ]"
    waiting = f"for i in $(seq 200); do {isThere} && break; sleep 0.01; done"
    return f"printf '\\033[8;{rows};{columns}t'; {waiting}"


def display():
    """An X server for xterm."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "2400x1600x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    os.environ["DISPLAY"] = f":{os.read(reading, 16).decode().strip()}"
    return server


def xterm_cells(line):
    """The cells of a printed line. xterm tells not always when faint, italic or struck text ends,
    nor of attributes of blanks but their background."""
    cells, rendition = [], ()
    for sequence, text in re.findall(r"\x1b(?:#5|\[([0-9;:]*)m)|([^\x1b\r])", line):
        if not text:
            rendition = tuple(code for code in sequence.split(";") if code not in ("", *"0239"))
        elif text == " ":
            shown = tuple(code for code in rendition if re.fullmatch(r"4[0-9:].*|10.", code))
            cells.append((text, shown))
        else:
            cells.append((text, rendition))
    # The last one is the mark.
    return cells[:-1]


def feed(judge, data):
    """Byte by byte: what Ghostty shows of some text depends on how much of it comes at once."""
    if len(data) > 200_000:
        return judge.feed(data)
    for index in range(len(data)):
        judge.feed(data[index : index + 1])


class Case:
    """A stream, what it is cut into, and what a new client sees of it."""

    def __init__(self, name, parts, cut):
        """The parts have sizes of their own; the cut is in the last one."""
        *first, (size, last) = parts
        # xterm gets a size by a control sequence, behind which it repeats nothing.
        repeats = re.match(rb"(?:\x1b\[\d*b)+", last) if first else None
        if repeats:
            first[-1] = (first[-1][0], first[-1][1] + repeats.group())
            last = last[repeats.end() :]
            cut = max(0, cut - repeats.end())
        self.name, self.parts, self.cut = name, first + [(size, last)], cut
        self.size = parts[-1][0]

    @property
    def stream(self):
        return b"".join(data for _, data in self.parts)

    @property
    def isTurnedBehind(self):
        """Whether the size changed behind an alternate screen: of the main one xterm keeps the
        first lines then, and not those at the cursor."""
        first = b"".join(data for _, data in self.parts[:-1])
        return re.findall(ALTERNATE + rb"([hl])", first)[-1:] == [b"h"]

    @property
    def before(self):
        """What was printed before the client was there."""
        *first, (size, data) = self.parts
        return first + [(size, data[: self.cut])]

    def run(self, folder, tally):
        session = Session(folder, self.parts[0][0])
        try:
            *first, (size, last) = self.parts
            for number, (_, data) in enumerate(first):
                session.print(data)
                session.resize(self.parts[number + 1][0])
            session.print(last[: self.cut])
            session.settle()
            start = time.perf_counter()
            drawing = session.attach()
            if drawing:
                tally["bytes"].append(len(drawing))
            tally["attach"].append(time.perf_counter() - start)
            self.shown = drawing + session.read()
            session.print(last[self.cut :])
            self.rest = session.read()
        finally:
            session.end()

    def differences(self, folder, tally, isSample):
        """What another terminal than xterm sees differently: by whom, what was printed, what came."""
        found = []
        new = [(self.size, self.shown)], [(self.size, self.shown + self.rest)]
        if len(self.parts) > 1 or isSample:
            # Where the size changes, other terminals move text to other lines.
            tally["xterm"] += 1
            if not (self.isTurnedBehind and re.search(ALTERNATE + rb"l", self.before[-1][1])):
                found.append(("xterm, when attached", self.before, new[0]))
            if not self.isTurnedBehind:
                found.append(("xterm, after the rest", self.parts, new[1]))
        if len(self.parts) > 1:
            return found
        seen, whole = Ghostty(self.size), Ghostty(self.size)
        feed(seen, self.shown)
        feed(whole, self.before[-1][1])
        # In the middle of a sequence nothing can be said.
        isGround = whole.terminal.feed_until_ground(b"") == 0
        if isGround and seen.state() != whole.state():
            found.append(("ghostty, when attached", self.before, new[0]))
        feed(seen, self.rest)
        feed(whole, self.parts[-1][1][self.cut :])
        if seen.state() != whole.state():
            found.append(("ghostty, after the rest", self.parts, new[1]))
        judge, plain = Pyte(self.size), Pyte(self.size)
        judge.feed(self.shown + self.rest)
        plain.feed(self.stream)
        text = [line.rstrip() for line in whole.terminal.text().split("\n")]
        hasOneScreen = not re.search(ALTERNATE, self.stream)
        states = judge.state(), plain.state()
        if hasOneScreen and None not in states and states[1][0][: len(text)] == text:
            tally["pyte"] += 1
            if states[0] != states[1]:
                found.append(("pyte", self.parts, new[1]))
        return found


def cases(rng, recorded, count):
    names = list(recorded)
    for number in range(count):
        isFirst = number // 2 < len(names)
        if number % 2 == 0:
            name = names[number // 2 % len(names)]
            stream, size = recorded[name]
            if not isFirst and rng.random() < 0.3:
                name, stream = f"{name} changed", changed(rng, stream)
        else:
            name, size = f"generated {number}", rng.choice(SIZES)
            stream = generated(rng, size)
        parts = [(size, stream)]
        if not isFirst and rng.random() < 0.1:
            # xterm is resized by a sequence, which goes into no other one.
            turn = stream.find(b"\x1b", rng.randint(0, len(stream)))
            turn = len(stream) if turn < 0 else turn
            other = rng.choice([one for one in SIZES if one != size])
            if re.search(ALTERNATE + rb"|[\xe3-\xf4]", stream):
                # xterm shows lines of the main screen on an alternate one that has become taller,
                # and halves of wide characters in a last column that was none.
                other = size[0] - 10, size[1] + 5
            parts = [(other, stream[:turn]), (size, stream[turn:])]
            name += f", {other[0]}x{other[1]} before"
        if not isFirst and rng.random() < 0.5:
            parts[0] = parts[0][0], history(rng) + parts[0][1]
        # Of the last program, not of what came before it.
        length = len(parts[-1][1])
        start = max(0, length - len(stream))
        yield Case(name, parts, rng.randint(start, length))


def main():
    count, seed = int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    tally = collections.defaultdict(int)
    tally["bytes"], tally["attach"] = [], []
    os.makedirs(KEPT, exist_ok=True)
    server = display()
    try:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_STATE_HOME"] = folder
            return compare(rng, folder, tally, count, seed)
    finally:
        server.kill()


def compare(rng, folder, tally, count, seed):
    recorded, missing = recordings(folder)
    print(
        f"{len(recorded)} recordings, {sum(len(s) for s, _ in recorded.values())} bytes; "
        f"not installed: {', '.join(missing) or 'none'}",
        flush=True,
    )
    failed = 0
    for number, case in enumerate(cases(rng, recorded, count)):
        case.run(folder, tally)
        found = case.differences(folder, tally, number % 25 == 0 and len(case.shown) < 1 << 20)
        # Where xterm sees no difference, two terminals differ, and not two screens.
        found = [
            (judge, xterm(printed, folder) != xterm(came, folder)) for judge, printed, came in found
        ]
        found = [(judge, isWrong) for judge, isWrong in found if isWrong or "xterm" not in judge]
        isWrong = any(isWrong for _, isWrong in found)
        failed += isWrong
        if found:
            tally["others"] += not isWrong
            words = "; ".join(judge + ("" if isSo else ", not xterm") for judge, isSo in found)
            print(
                f"{number}: {case.name}, {case.size[0]}x{case.size[1]}, cut at {case.cut} of "
                f"{len(case.parts[-1][1])}: {words}",
                flush=True,
            )
            keep(seed, number, case)
        if (number + 1) % 100 == 0:
            print(f"{number + 1} streams, {failed} wrong", flush=True)
    sizes, times = sorted(tally["bytes"]) or [0], sorted(tally["attach"])
    print(
        f"{count - failed} of {count} right, {tally['others']} of them by the word of xterm "
        f"alone; judged by pyte too: {tally['pyte']}, by xterm too: {tally['xterm']}"
    )
    print(
        f"{len(sizes)} drawings: median {sizes[len(sizes) // 2]} bytes, largest {sizes[-1]}; "
        f"attached after {times[len(times) // 2] * 1000:.1f} ms (median)"
    )
    return 1 if failed else 0


def keep(seed, number, case):
    """Keeps what was printed, and what came to the client when it attached and after that."""
    files = [(f"all.{part}", data) for part, (_, data) in enumerate(case.parts)]
    files += [("new", case.shown), ("rest", case.rest)]
    for suffix, data in files:
        with open(os.path.join(KEPT, f"{seed}-{number}.{suffix}"), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    sys.exit(main())
