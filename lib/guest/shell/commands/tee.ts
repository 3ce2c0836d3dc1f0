/** `tee` and `truncate`. */
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';

export const tee: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'aip',
      long: { append: 'a', 'ignore-interrupts': 'i', 'output-error=?': 'p' },
    });
    const appends = options.some(({ key }) => key === 'a');
    const content = call.stdin;
    call.print(content);
    for (const name of operands) {
      try {
        const path = call.path(name);
        if (path === '/dev/stdout') call.print(content);
        else if (path === '/dev/stderr') call.warn(content.toString());
        else if (appends) await filesAt(call, path).appendFile(path, content);
        else await filesAt(call, path).writeFile(path, content);
      } catch (error) {
        call.fail(`${name}: ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};

/** The pipes of `>(command)` are known to the running script alone. */
function filesAt(call: CommandCall, path: string): CommandCall['changes'] {
  return path.startsWith('/dev/fd/') && call.files.look(path) === null ? call.context.fs : call.changes;
}

const UNITS = 'KMGTPE';

/** A size like `10`, `2K` and `3MB`; null when it is none. */
function sizeOf(text: string): number | null {
  const found = /^(\d+)(?:([KMGTPEk])(iB|B)?)?$/.exec(text);
  if (found === null) return null;
  const power = found[2] === undefined ? 0 : UNITS.indexOf(found[2].toUpperCase()) + 1;
  return Number(found[1]) * (found[3] === 'B' ? 1000 : 1024) ** power;
}

export const truncate: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'cor:s:',
      long: { 'io-blocks': 'o', 'no-create': 'c', 'reference=': 'r', 'size=': 's' },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const [given, reference] = [value('s'), value('r')];
    if (given === null && reference === null)
      call.usage(`you must specify either ${marked('--size')} or ${marked('--reference')}`);
    if (operands.length === 0) call.usage('missing file operand');
    const found = /^([-+<>/%]?)(.*)$/.exec(given ?? '+0');
    const [sign, number] = [found?.[1] ?? '', sizeOf(found?.[2] ?? '')];
    if (number === null) call.end(`Invalid number: ${marked(given ?? '')}`);
    for (const name of operands) {
      try {
        const info = call.files.look(call.path(name));
        if (info === null && options.some(({ key }) => key === 'c')) continue;
        const base = reference === null ? (info?.size ?? 0) : call.files.info(call.path(reference)).size;
        const size = wantedSize(sign, number, base);
        const content = info === null ? Buffer.alloc(0) : call.files.read(call.path(name));
        const filled = Buffer.alloc(size);
        content.copy(filled, 0, 0, Math.min(size, content.length));
        await call.changes.writeFile(call.path(name), filled);
      } catch (error) {
        call.fail(`cannot open ${inQuotes(name)} for writing: ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};

function wantedSize(sign: string, number: number, base: number): number {
  switch (sign) {
    case '+':
      return base + number;
    case '-':
      return Math.max(0, base - number);
    case '<':
      return Math.min(base, number);
    case '>':
      return Math.max(base, number);
    case '/':
      return Math.floor(base / number) * number;
    case '%':
      return Math.ceil(base / number) * number;
    default:
      return number;
  }
}
