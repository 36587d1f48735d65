#!/bin/sh
# Installs bridgectl below PREFIX (~/.local), or removes what was installed there.
#   ./install.sh [PREFIX]
#   ./install.sh --uninstall [PREFIX]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
say() { printf 'install.sh: %s\n' "$*" >&2; }
uninstall=
case "${1:-}" in
  --uninstall) uninstall=yes; shift ;;
  -*) sed -n '2,4s/^# //p' "$0" >&2; exit 64 ;;
esac
[ $# -le 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 64; }
prefix=${1:-$HOME/.local}
case "$prefix" in /*) ;; *) prefix=$(pwd)/$prefix ;; esac
# Files and, with a slash, directories that were made for them, in the order in which they came.
list=$prefix/share/doc/bridgectl/installed

remove() {
  # Read before the list itself is removed.
  paths=$(tac "$list")
  printf '%s\n' "$paths" | while IFS= read -r path; do
    case "$path" in
      */) rmdir "$prefix/$path" 2>/dev/null || true ;;
      *) rm -f "$prefix/$path" ;;
    esac
  done
}

if [ -n "$uninstall" ]; then
  [ -f "$list" ] || { say "bridgectl is not installed in $prefix."; exit 66; }
  remove
  exit 0
fi

missing=$(ldd "$here/bin/bridgectl" | sed -n 's/ => not found//p')
if [ -n "$missing" ]; then
  say "bridgectl needs libraries that are not here:" $missing
  say "On Debian they are in these packages: $(cat "$here/requires")"
  exit 69
fi

[ ! -f "$list" ] || remove
made=
make() {
  [ -d "$prefix/$1" ] && return
  case "$1" in */*) make "${1%/*}" ;; esac
  mkdir -p "$prefix/$1"
  made="$made$1/
"
}
make share/doc/bridgectl
files=$(cd "$here" && find bin share -type f | LC_ALL=C sort)
for file in $files; do make "${file%/*}"; done
printf '%s%s\n%s\n' "$made" share/doc/bridgectl/installed "$files" >"$list"
for file in $files; do
  cp "$here/$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done
say "installed in $prefix; remove it with: $0 --uninstall $prefix"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) say "$prefix/bin is not in PATH." ;; esac
