/** `free`: the memory that the sandbox's policy gives its shell, and what of it is in use. There is no swap. */
import { getHeapStatistics } from 'node:v8';
import type { CommandCall, OwnCommand } from './own-command.ts';

const KIB = 1024;
const KILO = 1000;
const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  k: KIB,
  m: KIB ** 2,
  g: KIB ** 3,
  tebi: KIB ** 4,
  kilo: KILO,
  mega: KILO ** 2,
  giga: KILO ** 3,
  tera: KILO ** 4,
};
const COLUMN = 12;
const FIRST_COLUMN = 8;
/** Characters of a number for people, before the letters of its unit. */
const HUMAN_DIGITS = 4;

export const free: OwnCommand = {
  like: 'procps 4.0.2',
  help: 'Usage: free [options]',
  main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'bkmghltwvV',
      long: {
        bytes: 'b',
        kibi: 'k',
        mebi: 'm',
        gibi: 'g',
        tebi: 'tebi',
        kilo: 'kilo',
        mega: 'mega',
        giga: 'giga',
        tera: 'tera',
        human: 'h',
        lohi: 'l',
        si: 'si',
        total: 't',
        wide: 'w',
        version: 'V',
      },
    });
    if (operands[0] !== undefined) call.usage(`extra operand '${operands[0]}'`);
    const keys = options.map(({ key }) => key);
    const has = (key: string) => keys.includes(key);
    const total = call.context.limits?.maxLiveBytes ?? 0;
    const used = Math.min(total, getHeapStatistics().used_heap_size);
    const show = has('h')
      ? human(has('si'))
      : divided(keys.findLast((key) => Object.hasOwn(UNITS, key)) ?? 'k', has('si'));
    const row = (name: string, cells: (number | string)[]) => {
      const words = cells.map((cell) => (typeof cell === 'number' ? show(cell) : cell).padStart(COLUMN));
      call.print(`${name.padEnd(FIRST_COLUMN)}${words.join('')}\n`);
    };
    const buffers = has('w') ? ['buffers', 'cache'] : ['buff/cache'];
    row('', ['total', 'used', 'free', 'shared', ...buffers, 'available']);
    row('Mem:', [total, used, total - used, 0, ...buffers.map(() => 0), total - used]);
    if (has('l')) {
      row('Low:', [total, used, total - used]);
      row('High:', [0, 0, 0]);
    }
    row('Swap:', [0, 0, 0]);
    if (has('t')) row('Total:', [total, used, total - used]);
    return 0;
  },
};

function divided(key: string, isDecimal: boolean): (bytes: number) => string {
  const power = 'bkmg'.indexOf(key);
  const unit = isDecimal && power > 0 ? KILO ** power : (UNITS[key] ?? KIB);
  return (bytes) => String(Math.floor(bytes / unit));
}

/** As procps scales: one digit behind the point where it has room. */
function human(isDecimal: boolean): (bytes: number) => string {
  const [base, end] = isDecimal ? [KILO, ''] : [KIB, 'i'];
  return (bytes) => {
    if (String(bytes).length < HUMAN_DIGITS) return `${bytes}B`;
    for (const [at, letter] of [...'KMGTP'].entries()) {
      const scaled = bytes / base ** (at + 1);
      for (const text of [scaled.toFixed(1), String(Math.floor(scaled))])
        if (text.length < HUMAN_DIGITS) return `${text}${letter}${end}`;
    }
    return String(bytes);
  };
}
