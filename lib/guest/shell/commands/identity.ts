/** `id`, `whoami`, `groups`, `logname`, `users` and `who`: a sandbox has one user, who is not logged in. */
import { OWNER } from './file-words.ts';
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

export const id: OwnCommand = {
  main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'aGgnruzZ',
      long: { context: 'Z', group: 'g', groups: 'G', name: 'n', real: 'r', user: 'u', zero: 'z' },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const kinds = ['u', 'g', 'G'].filter(has);
    if (has('Z')) call.end('--context (-Z) works only on an SELinux-enabled kernel');
    if (kinds.length > 1) call.end('cannot print "only" of more than one choice');
    if ((has('n') || has('r')) && kinds.length === 0) call.end('cannot print only names or real IDs in default format');
    const names = operands.length > 0 ? operands : [OWNER.name];
    for (const name of names) {
      if (name !== OWNER.name && name !== String(OWNER.id)) call.fail(`${marked(name)}: no such user`);
      else if (kinds.length > 0) call.print(`${has('n') ? OWNER.name : OWNER.id}${has('z') ? '\0' : '\n'}`);
      else {
        const one = `${OWNER.id}(${OWNER.name})`;
        call.print(`uid=${one} gid=${one} groups=${one}\n`);
      }
    }
    return undefined;
  },
};

export const whoami: OwnCommand = {
  main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    if (operands[0] !== undefined) call.usage(`extra operand ${marked(operands[0])}`);
    call.print(`${OWNER.name}\n`);
    return 0;
  },
};

export const groups: OwnCommand = {
  main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    if (operands.length === 0) call.print(`${OWNER.name}\n`);
    for (const name of operands) {
      if (name === OWNER.name) call.print(`${name} : ${OWNER.name}\n`);
      else call.fail(`${marked(name)}: no such user`);
    }
    return undefined;
  },
};

export const logname: OwnCommand = {
  main(call: CommandCall) {
    call.options({ letters: '' });
    return call.end('no login name');
  },
};

/** Nobody is logged in. */
export const users: OwnCommand = {
  main(call: CommandCall) {
    call.options({ letters: 'abdHlmpqrsTtuw', long: { all: 'a', heading: 'H' } });
    return 0;
  },
};
