/** `clear`, `tput`, `less`, `more`, `pager` and `uuidgen`: what programs ask of a terminal that is none. */

import { randomUUID } from 'node:crypto';
import { requireUse } from '../declared-uses.ts';
import type { CommandCall, OwnCommand } from './own-command.ts';
import { textInputs } from './text-inputs.ts';

const UNKNOWN_TERMINAL = 3;
const UNKNOWN_CAPABILITY = 4;
/** What terminfo says of both kinds of terminals that are known. */
const SIZE: Readonly<Record<string, string>> = { cols: '80', lines: '24' };
const PLAIN: Readonly<Record<string, string>> = { bel: '\x07', cr: '\r', ind: '\n', cud1: '\n', am: '', cols: '80' };
const COLOURED: Readonly<Record<string, string>> = {
  bold: '\x1b[1m',
  dim: '\x1b[2m',
  smul: '\x1b[4m',
  rmul: '\x1b[24m',
  rev: '\x1b[7m',
  blink: '\x1b[5m',
  smso: '\x1b[7m',
  rmso: '\x1b[27m',
  sgr0: '\x1b(B\x1b[m',
  op: '\x1b[39;49m',
  el: '\x1b[K',
  el1: '\x1b[1K',
  ed: '\x1b[J',
  clear: '\x1b[H\x1b[2J\x1b[3J',
  home: '\x1b[H',
  cuu1: '\x1b[A',
  civis: '\x1b[?25l',
  cnorm: '\x1b[?12l\x1b[?25h',
  sc: '\x1b7',
  rc: '\x1b8',
  smcup: '\x1b[?1049h\x1b[22;0;0t',
  rmcup: '\x1b[?1049l\x1b[23;0;0t',
  bel: '\x07',
  cr: '\r',
};
/** Names that terminfo knows and a plain terminal has nothing for. */
const LACKING = new Set([
  ...Object.keys(COLOURED),
  'setaf',
  'setab',
  'setf',
  'setb',
  'cup',
  'sitm',
  'ritm',
  'hpa',
  'vpa',
]);

export const tput: OwnCommand = {
  usageExit: 2,
  like: 'ncurses 6.4',
  async main(call: CommandCall) {
    const { options, operands } = call.options({ letters: 'ST:Vx', long: {}, stopAtOperand: true });
    const type = options.findLast(({ key }) => key === 'T')?.value ?? call.context.env.get('TERM') ?? '';
    const isPlain = type === 'dumb';
    if (type === '') call.fail('No value for $TERM and no -T specified', 2);
    if (type === '') return 2;
    const isColoured = /^(?:xterm|screen|tmux|rxvt|linux|ansi|vt220)/.test(type);
    if (!isPlain && !isColoured) {
      call.fail(`unknown terminal "${type}"`, UNKNOWN_TERMINAL);
      return UNKNOWN_TERMINAL;
    }
    if (options.some(({ key }) => key === 'S')) {
      const lines = call.stdin
        .toString()
        .split('\n')
        .map((line) => line.split(/\s+/).filter((word) => word !== ''));
      let exitCode = 0;
      for (const words of lines) if (words.length > 0) exitCode = Math.max(exitCode, capability(call, words, type));
      return exitCode;
    }
    if (operands.length === 0) call.end('no operands: give the name of a capability', 2);
    return capability(call, operands, type);
  },
};

function capability(call: CommandCall, [name = '', ...numbers]: readonly string[], type: string): number {
  const size = SIZE[name];
  if (size !== undefined) {
    call.print(`${call.context.exportedEnv?.[name === 'cols' ? 'COLUMNS' : 'LINES'] ?? size}\n`);
    return 0;
  }
  const isPlain = type === 'dumb';
  const [first = 0, second = 0] = numbers.map(Number);
  if (name === 'longname') {
    call.print(isPlain ? '80-column dumb tty' : 'xterm with 256 colors');
    return 0;
  }
  if (name === 'colors') {
    call.print(`${isPlain ? -1 : type.includes('256') ? 256 : 8}\n`);
    return 0;
  }
  if (name === 'init' || name === 'reset') return 0;
  if (isPlain) {
    const text = PLAIN[name];
    if (text !== undefined) call.print(text);
    else if (!LACKING.has(name)) return unknown(call, name);
    return text === undefined ? 1 : 0;
  }
  const colour = (base: number) =>
    first < 8 ? `\x1b[${base}${first}m` : first < 16 ? `\x1b[${base + 6}${first - 8}m` : `\x1b[${base}8;5;${first}m`;
  if (name === 'setaf') call.print(colour(3));
  else if (name === 'setab') call.print(colour(4));
  else if (name === 'cup') call.print(`\x1b[${first + 1};${second + 1}H`);
  else if (COLOURED[name] !== undefined) call.print(COLOURED[name]);
  else return unknown(call, name);
  return 0;
}

function unknown(call: CommandCall, name: string): number {
  call.fail(`unknown terminfo capability '${name}'`, UNKNOWN_CAPABILITY);
  return UNKNOWN_CAPABILITY;
}

/** Prints what clears a terminal of the console, whatever TERM says. */
export const clear: OwnCommand = {
  like: 'ncurses 6.4',
  main(call: CommandCall) {
    const { options } = call.options({ letters: 'T:Vx', long: {} });
    const keepsScrollback = options.some(({ key }) => key === 'x');
    call.print(`\x1b[H\x1b[2J${keepsScrollback ? '' : '\x1b[3J'}`);
    return 0;
  },
};

/** Where standard output is no terminal a pager prints its files as they are. */
export const pager: OwnCommand = {
  like: 'less 590',
  async main(call: CommandCall) {
    // Options and commands for a screen change nothing of what is printed.
    const operands = call.args.filter(
      (arg, at, all) => !/^[-+]./.test(arg) && !/^-[joPpTtxyz"#D]$/.test(all[at - 1] ?? ''),
    );
    const isTitled = operands.length > 0 && call.name === 'more';
    for await (const { name, bytes } of textInputs(call, operands, (given, reason) =>
      reason === 'Is a directory'
        ? call.name === 'more'
          ? `*** ${given}: directory ***`
          : `${given} is a directory`
        : call.name === 'more'
          ? `cannot open ${given}: ${reason}`
          : `${given}: ${reason}`,
    )) {
      if (isTitled) call.print(`::::::::::::::\n${name}\n::::::::::::::\n`);
      call.print(bytes);
    }
    return undefined;
  },
};

export const uuidgen: OwnCommand = {
  like: 'util-linux 2.38.1',
  main(call: CommandCall) {
    call.options({ letters: 'r', long: { random: 'r' } });
    requireUse(call, 'random');
    call.print(`${randomUUID()}\n`);
    return 0;
  },
};
