/// The programs that make a world out of namespaces.
enum WorldScripts {
  /// The number of the user who logs in: of no account of a usual machine.
  static let user = 61_234
  static let name = "field"

  /// What a user of this machine sees in a world, and then the server. Run as root by unshare(1).
  ///
  /// Arguments: the folder, the kind of home, how many programs keep the machine busy, the queueing
  /// discipline, the command of the server.
  static let enter = """
    set -e
    folder=$1 kind=$2 busy=$3 discipline=$4; shift 4
    cd "$folder"
    chmod 711 .
    for file in passwd group shadow; do mount --bind "$folder/$file" "/etc/$file"; done
    mount -t tmpfs -o mode=1777 none /var/tmp
    if [ -n "$discipline" ]; then
      ip link set lo up mtu 1500
      tc qdisc add dev lo root $discipline
    fi
    place=home/.local/lib/bridge/bin
    case $kind in readOnly|noExec|enterOnly) place=/var/tmp/bridge-\(user)/bin ;; esac
    if [ -e host/bridge-host ]; then
      (umask 077; mkdir -p "$place")
      ln -s "$folder/host/bridge-host" "$place/bridge-host"
    fi
    chown -R \(user):\(user) home
    [ ! -e /var/tmp/bridge-\(user) ] || chown -R \(user):\(user) /var/tmp/bridge-\(user)
    case $kind in
      readOnly) mount --bind home home; mount -o remount,bind,ro home ;;
      noExec) mount --bind home home; mount -o remount,bind,noexec home ;;
      enterOnly) chown root:root home; chmod 711 home ;;
      full)
        cp -a home template
        mount -t tmpfs -o size=4m,mode=700,uid=\(user),gid=\(user) none home
        cp -a template/. home
        dd if=/dev/zero of=home/filler bs=4k 2>dd.log || true ;;
    esac
    while [ "$busy" -gt 0 ]; do
      busy=$((busy - 1))
      nice -n 1 sh -c 'while :; do :; done' &
    done
    exec "$@"
    """

  /// Runs `sshd -i` for each connection, behind a text. Python 3.
  ///
  /// Arguments: the port, the file with the text, the configuration, the log, the pid file.
  static let greet = """
    import os, signal, socket, sys
    port, text, configuration, log, ready = sys.argv[1:]
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
    open(ready, "w").write(str(os.getpid()))
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            if os.fork() != 0:
                os._exit(0)
            listener.close()
            connection.sendall(open(text, "rb").read())
            os.dup2(connection.fileno(), 0)
            os.dup2(connection.fileno(), 1)
            os.execv("/usr/sbin/sshd", ["/usr/sbin/sshd", "-i", "-f", configuration, "-E", log])
        os.wait()
        connection.close()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
    """

  /// Runs a command whose kernel refuses renameat2(2) with flags (EINVAL), locks (ENOLCK) or both:
  /// seccomp(2). Python 3.
  ///
  /// Arguments: what is refused, the command.
  static let refuseLocks = """
    import ctypes, os, struct, sys
    renameat2, fcntl, flock = (316, 72, 73) if os.uname().machine == "x86_64" else (276, 25, 32)
    never = 0xffffffff
    if "renames" not in sys.argv[1]:
        renameat2 = never
    if "locks" not in sys.argv[1]:
        fcntl = flock = never
    load, equal, answer = 0x20, 0x15, 0x06
    allow, invalid, no_lock = 0x7fff0000, 0x00050000 | 22, 0x00050000 | 37
    program = [
        (load, 0, 0, 0),
        (equal, 0, 3, renameat2), (load, 0, 0, 48), (equal, 7, 0, 0), (answer, 0, 0, invalid),
        (equal, 6, 0, flock),
        (equal, 0, 4, fcntl), (load, 0, 0, 24),
        (equal, 3, 0, 36), (equal, 2, 0, 37), (equal, 1, 0, 38),
        (answer, 0, 0, allow), (answer, 0, 0, no_lock),
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code)
    filter = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    set_mode, filter_mode = 22, 2
    if libc.prctl(set_mode, filter_mode, filter, 0, 0) != 0:
        sys.exit("seccomp: " + os.strerror(ctypes.get_errno()))
    os.execv(sys.argv[2], sys.argv[2:])
    """
}
