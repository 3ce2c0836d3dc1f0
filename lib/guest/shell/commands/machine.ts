/**
 * `uname`, `arch`, `hostname`, `ulimit`, `nproc`, `getconf`, `tty` and `sync`: what a sandbox
 * says of itself as a machine. It shows nothing of the host.
 */
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';

/** The parts of `uname` by option, in its order. Programs of a machine do not run here: the last ones are customary. */
const SYSTEM = {
  s: 'Linux',
  n: 'localhost',
  r: '6.1.0',
  v: '#1 SMP',
  m: 'x86_64',
  p: 'unknown',
  i: 'unknown',
  o: 'GNU/Linux',
} as const;

export const uname: OwnCommand = {
  main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'asnrvmpio',
      long: {
        all: 'a',
        'hardware-platform': 'i',
        'kernel-name': 's',
        'kernel-release': 'r',
        'kernel-version': 'v',
        machine: 'm',
        nodename: 'n',
        'operating-system': 'o',
        processor: 'p',
      },
    });
    if (operands[0] !== undefined) call.usage(`extra operand ${marked(operands[0])}`);
    const keys = options.map(({ key }) => key);
    const all = keys.includes('a');
    const parts = Object.entries(SYSTEM).filter(([key, value]) => {
      if (keys.length === 0) return key === 's';
      return all ? value !== 'unknown' : keys.includes(key);
    });
    call.print(`${parts.map(([, value]) => value).join(' ')}\n`);
    return 0;
  },
};

export const arch: OwnCommand = {
  main(call: CommandCall) {
    call.options({ letters: '' });
    call.print(`${SYSTEM.m}\n`);
    return 0;
  },
};

export const hostname: OwnCommand = {
  like: 'hostname 3.23',
  main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'sfidIA',
      long: {
        'all-fqdns': 'A',
        'all-ip-addresses': 'I',
        domain: 'd',
        fqdn: 'f',
        'ip-address': 'i',
        long: 'f',
        short: 's',
      },
    });
    if (operands[0] !== undefined) call.end('you must be root to change the host name');
    if (options.some(({ key }) => 'iIA'.includes(key))) call.end('a sandbox has no address in a network');
    call.print(options.some(({ key }) => key === 'd') ? '\n' : `${SYSTEM.n}\n`);
    return 0;
  },
};

/** What `ulimit` can show, by its letter: nothing bounds a script but its time and the memory of its policy. */
const LIMITS: readonly [letter: string, name: string, unit: string][] = [
  ['c', 'core file size', 'blocks, '],
  ['d', 'data seg size', 'kbytes, '],
  ['f', 'file size', 'blocks, '],
  ['l', 'max locked memory', 'kbytes, '],
  ['m', 'max memory size', 'kbytes, '],
  ['n', 'open files', ''],
  ['s', 'stack size', 'kbytes, '],
  ['t', 'cpu time', 'seconds, '],
  ['u', 'max user processes', ''],
  ['v', 'virtual memory', 'kbytes, '],
];

/** There are no limits to show. One that would have to hold cannot be set; that no core is written is so already. */
export const ulimit: OwnCommand = {
  usageExit: 2,
  main(call: CommandCall) {
    const letters = LIMITS.map(([letter]) => letter).join('');
    const { options, operands } = call.options({ letters: `aHS${letters}` });
    const [value] = operands;
    if (options.some(({ key }) => key === 'a')) {
      for (const [letter, name, unit] of LIMITS)
        call.print(`${name.padEnd(27)} ${`(${unit}-${letter})`.padStart(12)} ${letter === 'c' ? '0' : 'unlimited'}\n`);
      return 0;
    }
    const wanted = options.findLast(({ key }) => letters.includes(key))?.key ?? 'f';
    if (value === undefined) call.print(wanted === 'c' ? '0\n' : 'unlimited\n');
    else if (value !== 'unlimited' && wanted !== 'c') {
      const name = LIMITS.find(([letter]) => letter === wanted)?.[1];
      call.end(`${name}: a limit of a script's own is not supported: its policy has the limits`);
    }
    return 0;
  },
};

export const nproc: OwnCommand = {
  main(call: CommandCall) {
    const { options, operands } = call.options({ letters: '', long: { all: 'all', 'ignore=': 'ignore' } });
    if (operands[0] !== undefined) call.usage(`extra operand ${marked(operands[0])}`);
    const ignored = options.findLast(({ key }) => key === 'ignore')?.value;
    if (typeof ignored === 'string' && !/^\d+$/.test(ignored)) call.end(`invalid number: ${marked(ignored)}`);
    call.print('1\n');
    return 0;
  },
};

/** What programs ask a system for, by name, where a sandbox has an answer. */
const SETTINGS: Readonly<Record<string, string>> = {
  _NPROCESSORS_CONF: '1',
  _NPROCESSORS_ONLN: '1',
  CHAR_BIT: '8',
  INT_MAX: '2147483647',
  LONG_BIT: '64',
  NAME_MAX: '255',
  PAGE_SIZE: '4096',
  PAGESIZE: '4096',
  PATH: '/bin:/usr/bin',
};

export const getconf: OwnCommand = {
  main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    const [name] = operands;
    if (name === undefined) call.usage('missing operand');
    const value = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
    if (value === undefined) call.end(`Unrecognized variable '${name}'`, 2);
    call.print(`${value}\n`);
    return 0;
  },
};

export const tty: OwnCommand = {
  usageExit: 2,
  main(call: CommandCall) {
    const { options } = call.options({ letters: 's', long: { quiet: 's', silent: 's' } });
    if (options.length === 0) call.print('not a tty\n');
    return 1;
  },
};

/** Every command's writes are kept when it ends. */
export const sync: OwnCommand = {
  main(call: CommandCall) {
    call.options({ letters: 'df', long: { data: 'd', 'file-system': 'f' } });
    return 0;
  },
};
