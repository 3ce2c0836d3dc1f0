/** `times` and `enable`: what bash says of its own time and of its builtins. */
import { ALSO_PROGRAMS, type CommandCall, type OwnCommand } from './own-command.ts';

const NAMES =
  '. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  );
const SPECIAL = new Set(
  '. : break continue eval exec exit export readonly return set shift source times trap unset'.split(' '),
);
const SECOND = 1e6;
const USAGE_EXIT = 2;

export const times: OwnCommand = {
  main(call: CommandCall) {
    const [option] = call.args;
    if (option?.startsWith('-') && option !== '--') {
      call.warn(`bash: times: ${option.slice(0, 2)}: invalid option\ntimes: usage: times\n`);
      return USAGE_EXIT;
    }
    const { user, system } = process.cpuUsage();
    const text = (micros: number) => `${Math.floor(micros / SECOND / 60)}m${((micros / SECOND) % 60).toFixed(3)}s`;
    // What a shell starts runs in its own process.
    call.print(`${text(user)} ${text(system)}\n${text(0)} ${text(0)}\n`);
    return 0;
  },
};

export const enable: OwnCommand = {
  main(call: CommandCall) {
    const options = call.args
      .filter((word) => /^-./.test(word))
      .join('')
      .replaceAll('-', '');
    const names = call.args.filter((word) => !word.startsWith('-'));
    const wrong = /[^anps]/.exec(options)?.[0];
    if (wrong !== undefined) {
      call.warn(
        `bash: enable: -${wrong}: ${/[df]/.test(wrong) ? 'not supported: no builtin is loaded here' : 'invalid option'}\n`,
      );
      if (!/[df]/.test(wrong)) call.warn('enable: usage: enable [-a] [-dnps] [-f filename] [name ...]\n');
      return USAGE_EXIT;
    }
    if (names.length === 0) {
      // None is ever disabled.
      if (options.includes('n') && !options.includes('a')) return 0;
      const shown = NAMES.filter((name) => !options.includes('s') || SPECIAL.has(name));
      call.print(shown.map((name) => `enable ${name}\n`).join(''));
      return 0;
    }
    let exitCode = 0;
    for (const name of names) {
      const isKnown = NAMES.includes(name);
      // What is a program too answers as that one does.
      if (isKnown && (!options.includes('n') || ALSO_PROGRAMS.has(name))) continue;
      call.warn(
        `bash: enable: ${name}: ${isKnown ? 'not supported: a builtin stays enabled' : 'not a shell builtin'}\n`,
      );
      exitCode = 1;
    }
    return exitCode;
  },
};
