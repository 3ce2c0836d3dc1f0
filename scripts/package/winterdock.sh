#!/bin/sh
# Winterdock as one folder: its own Node and its own code, wherever the folder lies and whatever the machine has.
#   winterdock start     the server, as this very process
#   winterdock --help    every command
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
root=$(cd "$(dirname "$self")/.." && pwd -P) || exit 1
exec "$root/runtime/node" --disable-sigusr1 "$root/bin/winterdock.js" "$@"
