/** The names that complete as a command, without loading the shell: its commands, ours, and its builtins. */
const COMMANDS =
  'alias awk base64 basename bash cat chmod clear column comm cp curl cut date diff dirname du echo egrep env expand expr false fgrep file find fold grep gunzip gzip head help history hostname html-to-markdown join jq ln ls md5sum mkdir mv nl od paste printenv printf pwd readlink rev rg rm rmdir sed seq sh sha1sum sha256sum sleep sort split sqlite3 stat strings tac tail tar tee time timeout touch tr tree true unalias unexpand uniq wc wget which whoami xan xargs yq zcat';
const OWN =
  'arch b2sum base32 basenc bc bg bunzip2 bzcat bzip2 chgrp chown cksum cmp csplit dd df disown dos2unix enable envsubst factor fg fmt free getconf getopt git groups hexdump iconv id install ionice jobs js kill killall less link logname mktemp more nice node nohup npm nproc numfmt pager patch pgrep pidof pip pip3 pkill pr ps python python3 realpath sdiff setsid sha224sum sha384sum sha512sum shuf stdbuf sum sync times tput truncate tsort tty ulimit uname unix2dos unlink unzip users uuidgen wait who xxd yes zgrep zip zipinfo';
const BUILTINS =
  'break case cd continue declare do done elif else esac eval exit export fi for function if local read readonly return select set shift source test then trap unset until while';

export const SHELL_COMMANDS: readonly string[] = `${COMMANDS} ${OWN} ${BUILTINS}`.split(' ').toSorted();
