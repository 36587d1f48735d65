import BridgeSessionProtocol

/// The program that a host without `bridge-host` runs for a copy: POSIX sh and its usual tools, one
/// request a line on its input, one answer to each. Paths come and go so that any byte may be in
/// them: as octal escapes of printf to the host, ended by a zero byte from it.
enum PlainScript {
  /// The command of an exec request, in one line that every login shell reads the same way: it
  /// reads the program from its input, as many bytes as it has, and no more.
  static func command(marker: AnswerMarker) -> String {
    // The name of a run is as long as that of any other.
    command(marker: marker, reading: text(run: Identifier(high: 0, low: 0)))
  }

  /// The same of another program.
  static func command(marker: AnswerMarker, reading text: String) -> String {
    let read = "dd bs=1 count=\(text.utf8.count) 2>/dev/null"
    return "exec /bin/sh -c '\(marker.printing); eval \"$(\(read))\"'"
  }

  /// Begins the first line of the program's output; what it has follows.
  static let greeting = "tools"
  /// `dd` has what no pipe divides.
  static let block = 64 << 10

  static func text(run: Identifier) -> String {
    "run=${TMPDIR:-/tmp}/bridge-copy-\(run)\n" + start + reading + writing + requests
  }

  /// What a lost link of this run has left running is ended: it would go on with what it has read.
  /// One that has not said yet that it runs removes its part when it finds another in its place.
  /// Then what there is: a tool for SHA-256, one for times, one that reads a number of bytes.
  private static let start = #"""
    LC_ALL=C TZ=UTC0; export LC_ALL TZ; unset CDPATH; umask 077; set -f; exec 5>&1 2>/dev/null
    cd || cd / || exit 1
    me=$(id -u) bad=0 t= time=y nl='
    '
    if [ -f "$run" ]; then
      p=$(cat "$run")
      case $(cat "/proc/$p/cmdline" || ps -o args= -p "$p") in *"%s bridge-"*) kill -9 "$p" ;; esac
      rm -f "$run"
    fi
    (set -C; echo $$ > "$run")
    trap 'case $(cat "$run") in $$) rm -f "$run" ;; ?*) [ -z "$t" ] || rm -f "$t" ;; esac' EXIT
    trap 'exit 1' HUP INT PIPE TERM
    has() { command -v "$1" >/dev/null; }
    say() { printf '%s\n' "$*"; }
    u() { v=$(printf %b. "$1"); v=${v%.}; }
    hash=y
    if has sha256sum; then sum() { sha256sum; }
    elif has shasum; then sum() { shasum -a 256; }
    elif has openssl; then sum() { openssl dgst -sha256 -r; }
    else hash=; fi
    case $hash$(printf abc | sum) in yba7816bf*) ;; *) hash= ;; esac
    infos() { false; }
    if stat -c %A . >/dev/null; then
      info() { stat $2 -c '%A %s %Y' "$1"; }
      infos() { stat -c '%A %s %Y' "$@"; }
    elif stat -f %Sp . >/dev/null; then
      info() { stat $2 -f '%Sp %z %m' "$1"; }
      infos() { stat -f '%Sp %z %m' "$@"; }
    else
      time= now=$(date +%s)
      info() {
        set -- $(ls -ldn $2 "$1"); [ $# -gt 4 ] || return 1
        say "$1 $5 $now"
      }
    fi
    count=; case $(say abc | dd 2>&1 >/dev/null) in *"${nl}4 bytes"*) count=y ;; esac
    full=; dd if=/dev/null of=/dev/null bs=1 iflag=fullblock && full=y
    take() {
      [ "$full" ] || { dd ibs=1 obs=65536 count=$1; return; }
      [ $1 -lt 65536 ] || dd bs=65536 count=$(($1 / 65536)) iflag=fullblock || return
      [ $(($1 % 65536)) = 0 ] || dd bs=$(($1 % 65536)) count=1 iflag=fullblock
    }
    no() {
      c=other e=${1%%"$nl"*}
      case $e in
      *"o space"*|*uota*) c=space ;; *"ermission denied"*|*"not permitted"*) c=denied ;;
      *"o such file"*) c=missing ;;
      esac
      say "${2:-no}" $c $e
    }

    """#

  /// What is there, by one process for 64 entries: one for each takes milliseconds, and a listing
  /// begins again on each link. Where not all of them could be looked at, each is for itself.
  ///
  /// A file's bytes: as many as were promised, zeros in place of those that a file
  /// had not any more. How many of these there are follows; where dd does not count, - and the
  /// status of tail, which fails where the file has grown, too.
  private static let reading = #"""
    mine() {
      set -- $(ls -ldn "$1")
      case $1 in -*) [ "$2" = 1 ] && [ "$3" = "$me" ] ;; *) false ;; esac
    }
    entry() {
      l=; case $i in l*) l=$(readlink "$1"; say .); l=${l%.}; l=${l%"$nl"} ;; esac
      printf 'i %s\n%s\000%s\000' "$i" "${1##*/}" "$l"
    }
    entries() {
      if i=$(infos "$@"); then say "$i" | while read -r i; do entry "$1"; shift; done
      else for f do i=$(info "$f") && entry "$f"; done; fi
    }
    list() {
      [ -r "$v" ] && [ -x "$v" ] || { say no denied; return; }
      say k; set --; set +f
      for f in "$v"/* "$v"/.[!.]* "$v"/..?*; do
        set -f; [ -e "$f" ] || [ -L "$f" ] || continue
        set -- "$@" "$f"; [ $# -lt 64 ] || { entries "$@"; set --; }
      done
      set -f; [ $# = 0 ] || entries "$@"; say k
    }
    give() {
      i=$(info "$v" $c) || { no "$(ls -ldn $c "$v" 2>&1)"; return; }
      [ -f "$v" ] || { say no special; return; }
      [ -r "$v" ] || { say no denied; return; }
      set -- $i; n=$2
      if [ $n = 0 ] && [ "$(head -c 1 < "$v" | wc -c)" -gt 0 ]; then say no length; return; fi
      [ $b -le $n ] || b=0
      say k $i $b; r=0
      if [ $n = $b ]; then :
      elif [ "$count" ]; then
        r=$({ tail -c +$((b + 1)) < "$v" | head -c $((n - b)) | dd bs=65536 2>&4 >&5; } 4>&1)
        r=${r##*"$nl"}; r=$((n - b - ${r%% *})); [ $r = 0 ] || head -c $r /dev/zero
      else
        r=$({ { tail -c +$((b + 1)) < "$v"; say $? >&4; cat /dev/zero; } |
          head -c $((n - b)) >&5; } 4>&1)
        r=-$r
      fi
      h=-; [ -z "$hash" ] || h=$(head -c $n < "$v" | sum)
      say k $r ${h%% *} $(info "$v" $c)
    }

    """#

  /// A directory that an earlier stream has left may not allow what follows: it is opened where it
  /// has the mode and time that this gave it. Of one with another owner the mode is said. A new
  /// mode leaves setgid and sticky bits as they are, which some chmod(1) clear.
  ///
  /// A part of a file, and its place. The name of a part ends in the number of the process: what a
  /// lost link or another run has left running finds its part gone. The longest one is continued;
  /// in a copy where a process, such as a child of a shell that has ended, may still have it open.
  private static let writing = #"""
    closed() {
      [ -d /proc/self/fd ] || return
      case $(ls -l /proc/[0-9]*/fd) in *"/${1##*/}"*) false ;; esac
    }
    part() {
      n=0 h=- w= m=0
      set +f
      for p in "$v"-*; do
        if [ "$hash" ] && mine "$p"; then
          set -- $(ls -ldn "$p")
          if [ "$5" -ge $m ]; then [ -z "$w" ] || rm -f "$w"; w=$p m=$5; else rm -f "$p"; fi
        else rm -f "$p"; fi
      done
      v=$v-$$
      if [ -z "$w" ]; then :
      elif closed "$w"; then mv "$w" "$v" || w=
      elif (set -C; cat < "$w" > "$v"); then rm -f "$w"
      else rm -f "$v"; w=; fi
      set -f
      if [ "$w" ]; then
        set -- $(ls -ldn "$v"); n=$(($5 / 65536 * 65536))
        if dd if=/dev/null of="$v" bs=65536 seek=$((n / 65536)); then h=$(sum < "$v"); else n=0; fi
      fi
      say k $n ${h%% *}
    }
    left() {
      i=$1 m=$2 s=$3
      set -- $(info "$i" | tr sStT x-x-)
      [ "$1" = "$m" ] && { [ -z "$time" ] || [ "$3" = "$s" ]; }
    }
    keep() {
      m=; if [ -g "$2" ]; then m=g+s; fi; if [ -k "$2" ]; then m=$m,+t; fi
      chmod $1 "$2" && { [ -z "$m" ] || chmod "${m#,}" "$2"; }
    }
    other() {
      set -- $(ls -ldn "$1")
      [ "$me" = 0 ] || [ "$3" = "$me" ] || say "$1"
    }
    enter() {
      n=./$v
      if [ $bad -gt 0 ]; then bad=$((bad + 1)); say no above
      elif [ -L "$n" ]; then bad=1; say no file
      elif e=$(mkdir "$n" 2>&1) || [ -d "$n" ]; then
        [ -z "$b" ] || [ -w "$n" ] || ! left "$n" "$b" "$c" || chmod u+rwx "$n"
        if e=$(cd "$n" 2>&1); then say k $(other "$n"); cd "$n"; else bad=1; no "$e"; fi
      elif [ -e "$n" ]; then bad=1; say no file
      else bad=1; no "$e"; fi
    }
    special() {
      e="\#(FileFault.specialName)"
      [ -e "$1" ] && [ ! -f "$1" ] && [ ! -d "$1" ] && return
      [ -L "$1" ] && case $(ls -ld "$1") in *"-> /proc/"* | *"-> /dev/"*) ;; *) false ;; esac
    }
    begin() {
      if [ $bad -gt 0 ]; then t=; say no above
      elif [ -d "$n" ] && [ ! -L "$n" ]; then t=; say no directory
      elif special "$n"; then t=; no "$e"
      elif [ $c -gt 0 ]; then say k
      else
        rm -f "$t"
        [ -z "$d" ] || { set +f; for p in "${t%-*}"-*; do rm -f "$p"; done; set -f; }
        if e=$( (set -C; : > "$t") 2>&1 ); then say k; else t=; no "$e"; fi
      fi
      if [ "$t" ]; then exec 3>>"$t"; else exec 3>/dev/null; fi
    }
    place() {
      if [ -d "$n" ] && [ ! -L "$n" ]; then e="Is a directory"
      elif special "$n"; then :
      else
        [ ! -L "$n" ] || rm -f "$n"
        if e=$(mv -f "$t" "$n" 2>&1); then say k; return; fi
      fi
      rm -f "$t"; no "$e"
    }
    finish() {
      exec 3>&-
      [ "$t" ] || { say k; return; }
      [ -e "$t" ] || { t=; say no taken; return; }
      h=; [ -z "$hash" ] || { h=$(sum < "$t"); h=${h%% *}; }
      set -- $(ls -ldn "$t")
      if [ "$5" != "$c" ] || [ "${h:-$d}" != "$d" ]; then rm -f "$t"; say no mismatch
      elif e=$(chmod $a "$t" 2>&1); then touch -t $b "$t"; place
      else rm -f "$t"; no "$e"; fi
      t=
    }
    link() {
      if [ $bad -gt 0 ]; then say no above; return; fi
      rm -f "$t"
      if [ ! -e "$t" ] && e=$(ln -s -- "$v" "$t" 2>&1); then place; else no "$e"; fi
      t=
    }

    """#

  private static let requests = #"""
    set -- $(ls -di .); say tools ${hash:--} ${time:--} "$(uname -n).$1"
    while read -r op a b c d; do
      case $op in
      s) u "$a"; if i=$(info "$v" -L); then say k $i; else no "$(ls -ldnL "$v" 2>&1)"; fi ;;
      w) u "$a"; list ;;
      h) u "$a"; h=$(head -c $b < "$v" | sum); say k ${h%% *} ;;
      g) u "$a"; give ;;
      o)
        u "$a"; i=i
        if [ "$c" = o ] || { [ "$c" = - ] && [ ! -d "$v" ]; }; then u "$b"; i=o; fi
        # What cd says of it differs from shell to shell.
        if (cd "$v"); then cd "$v"; say k $i; else no "$(ls -ldL "$v/." 2>&1)"; fi ;;
      q) u "$a"; part ;;
      m) u "$a"; enter ;;
      x)
        if [ $bad -gt 0 ]; then bad=$((bad - 1))
        else u "$a"; cd -P .. && keep $b "./$v" && touch -t $c "./$v"; fi
        say k ;;
      f) u "$a"; t=./$v-$$; u "$b"; n=./$v; begin ;;
      b) if e=$(take $a 2>&1 >&3); then say k; else exec 3>&-; rm -f "$t"; no "$e" end; exit; fi ;;
      e) finish ;;
      a) exec 3>&-; [ -z "$t" ] || rm -f "$t"; t=; say k ;;
      l) u "$a"; t=./$v-$$; u "$b"; n=./$v; u "$c"; link ;;
      k) say k ;;
      z) say k; exit ;;
      esac
    done

    """#
}
