#!/usr/bin/env python3
"""Measures what the screen of a session costs, side by side with another `bridge-host` and tmux.

cost.py BRIDGE_HOST [OTHER_BRIDGE_HOST]

Of each host in turn: the processor time of a keeper for 64 MiB of lines that a client reads, the
memory that a keeper has for itself (USS) while its program is idle on a terminal of 80 columns and
24 rows that is full of text, and the time from the start of `bridge-host attach` to the screen; of
tmux the time from the start of `tmux attach` to the same screen.
"""

import fcntl, os, pty, select, shutil, signal, statistics, struct, subprocess, sys, tempfile
import termios, threading, time

import screens

ROUNDS, SIZE, BYTES = 7, (80, 24), 64 << 20
QUESTION = b"\x1b[2J\x1b[HAllow this? [y/n] "
SPINNER = b"".join(b"\x1b[9;1H\x1b[3%dm*\x1b[m" % (n % 8) for n in range(8000))


def keeper(session):
    """The process that keeps a session: its directory is open there."""
    program = os.path.realpath(screens.BRIDGE_HOST)
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            isHost = os.readlink(f"/proc/{process}/exe") == program
            if isHost and os.readlink(f"/proc/{process}/fd/3").endswith(session.id.hex()):
                return process
        except OSError:
            continue
    raise RuntimeError("no keeper")


def seconds(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_memory(process):
    """KiB that no other keeper has: pages of the program itself are the same in all of them."""
    with open(f"/proc/{process}/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_Dirty"))


def lines(folder):
    """The processor time for lines that a client reads as they come."""
    session = screens.Session(folder, SIZE)
    try:
        session.attach()
        line = b"a line of seventy-nine bytes, as a compiler or a test prints them all day long\r\n"
        data = line * (BYTES // len(line))
        before = seconds(process := keeper(session))
        printing = threading.Thread(target=session.print, args=(data,))
        printing.start()
        received = 0
        while received < len(data):
            kind, payload, offset = session.client.next()
            if kind == screens.PING:
                session.client.send(screens.PONG, b"", offset)
            if kind == 4:
                received += len(payload)
                if received % (1 << 20) < len(payload):
                    session.client.send(7, received.to_bytes(8), received)
        printing.join()
        return seconds(process) - before
    finally:
        session.end()


def memory(folder):
    session = screens.Session(folder, SIZE)
    try:
        row = "".join(f"\x1b[3{n % 8}mword{n} " for n in range(12)) + "\r\n"
        session.print(row.encode() * 400)
        session.settle()
        # The keeper takes in what was printed a moment later.
        time.sleep(2.5)
        return own_memory(keeper(session))
    finally:
        session.end()


def attach(folder):
    session = screens.Session(folder, SIZE)
    try:
        session.print(QUESTION + SPINNER)
        session.settle()
        time.sleep(1.5)
        start = time.perf_counter()
        drawing = session.attach() + session.read()
        time_taken = time.perf_counter() - start
        return time_taken * 1000, len(drawing), b"Allow this?" in drawing
    finally:
        session.end()


def attach_tmux(folder):
    path, socket = os.path.join(folder, "question"), f"cost{os.getpid()}"
    with open(path, "wb") as file:
        file.write(QUESTION + SPINNER)
    tmux = ["tmux", "-f", "/dev/null", "-L", socket]
    subprocess.run(
        [*tmux, "new-session", "-d", "-x", "80", "-y", "25", f"cat {path}; sleep 100"], check=True
    )
    try:
        time.sleep(1.5)
        start = time.perf_counter()
        child, master = pty.fork()
        if child == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execvp("tmux", [*tmux, "attach"])
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 80, 0, 0))
        output = b""
        while b"Allow this?" not in output:
            assert select.select([master], [], [], 5)[0], "tmux shows nothing"
            output += os.read(master, 65536)
        taken = time.perf_counter() - start
        os.kill(child, signal.SIGKILL)
        os.close(master)
        os.waitpid(child, 0)
        return taken * 1000
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True)


def show(name, values, unit):
    values = sorted(values)
    print(f"  {name}: {statistics.median(values):.2f} {unit} ({values[0]:.2f} to {values[-1]:.2f})")


def main():
    hosts = sys.argv[1:]
    found = {host: ([], [], []) for host in hosts}
    tmux = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for _ in range(ROUNDS):
            for host in hosts:
                screens.BRIDGE_HOST = host
                found[host][0].append(lines(folder))
                found[host][1].append(memory(folder))
                taken, count, is_right = attach(folder)
                found[host][2].append((taken, count, is_right))
            if shutil.which("tmux"):
                tmux.append(attach_tmux(folder))
    for host in hosts:
        print(host)
        show("keeper, 64 MiB of lines", found[host][0], "s")
        show("memory of an idle keeper", found[host][1], "KiB")
        show("attach", [taken for taken, _, _ in found[host][2]], "ms")
        counts = [count for _, count, _ in found[host][2]]
        right = sum(is_right for _, _, is_right in found[host][2])
        print(f"  sent: {max(counts)} bytes; the question is there in {right} of {ROUNDS}")
    if tmux:
        print("tmux")
        show("attach", tmux, "ms")


if __name__ == "__main__":
    main()
