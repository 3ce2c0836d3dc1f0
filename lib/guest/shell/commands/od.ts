/** `od`, and `xxd` and `hexdump -C`: bytes as text. */
import { C_ESCAPED_BYTES } from './c-escapes.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const NAMED: Readonly<Record<number, string>> = { ...C_ESCAPED_BYTES, 0: '\\0' };
const ASCII =
  'nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp'.split(
    ' ',
  );

interface Format {
  size: number;
  width: number;
  show(bytes: Buffer): string;
}

async function bytesOf(call: CommandCall, operands: readonly string[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const name of operands.length === 0 ? ['-'] : operands) {
    try {
      parts.push(await call.input(name));
    } catch (error) {
      call.fail(`${name}: ${reasonOf(error)}`);
    }
  }
  return Buffer.concat(parts);
}

export const od: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'A:j:N:t:vw::abcdoxs',
      long: {
        'address-radix=': 'A',
        'skip-bytes=': 'j',
        'read-bytes=': 'N',
        'format=': 't',
        'output-duplicates': 'v',
        'width=?': 'w',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const short: Readonly<Record<string, string>> = { a: 'a', b: 'o1', c: 'c', d: 'u2', o: 'o2', x: 'x2', s: 'd2' };
    const asked = options.flatMap(({ key, value: type }) =>
      key === 't' ? ((type ?? '').match(/[acduox]\d*|./g) ?? []) : short[key] === undefined ? [] : [short[key] ?? ''],
    );
    const formats = (asked.length === 0 ? ['o2'] : asked).map((type) => formatOf(call, type));
    const skip = Number(value('j') ?? 0);
    const whole = await bytesOf(call, operands);
    const bytes = whole.subarray(skip, value('N') === null ? whole.length : skip + Number(value('N')));
    const perLine = options.some(({ key }) => key === 'w') ? Number(value('w') ?? 32) : 16;
    const radix = value('A') ?? 'o';
    const address = (at: number) =>
      radix === 'n'
        ? ''
        : radix === 'd'
          ? String(at).padStart(7, '0')
          : radix === 'x'
            ? at.toString(16).padStart(6, '0')
            : at.toString(8).padStart(7, '0');
    // Columns of all formats are as wide as the widest of them needs for the same bytes.
    const unit = Math.max(...formats.map(({ size, width }) => (width + 1) / size));
    let repeated = false;
    for (let at = 0; at < bytes.length; at += perLine) {
      const row = bytes.subarray(at, at + perLine);
      const same = at > 0 && row.length === perLine && row.equals(bytes.subarray(at - perLine, at));
      if (same && !options.some(({ key }) => key === 'v')) {
        if (!repeated) call.print('*\n');
        repeated = true;
        continue;
      }
      repeated = false;
      for (const [index, format] of formats.entries()) {
        const cells: string[] = [];
        for (let from = 0; from < row.length; from += format.size) {
          const part = Buffer.alloc(format.size);
          row.copy(part, 0, from, from + format.size);
          cells.push(format.show(part).padStart(unit * format.size));
        }
        const start = index === 0 ? address(at + skip) : ' '.repeat(address(0).length);
        call.print(`${start}${cells.join('')}\n`);
      }
    }
    if (radix !== 'n') call.print(`${address(bytes.length + skip)}\n`);
    return undefined;
  },
};

function formatOf(call: CommandCall, type: string): Format {
  if (type === 'c')
    return {
      size: 1,
      width: 3,
      show: ([byte = 0]) =>
        NAMED[byte] ?? (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : byte.toString(8).padStart(3, '0')),
    };
  if (type === 'a')
    return {
      size: 1,
      width: 3,
      show: ([byte = 0]) => ASCII[byte & 127] ?? ((byte & 127) === 127 ? 'del' : String.fromCharCode(byte & 127)),
    };
  const match = /^([duox])([1248]?)$/.exec(type);
  if (!match) return call.end(`invalid type string ‘${type}’`);
  const size = Number(match[2] || 4);
  const kind = match[1] ?? '';
  const bits = BigInt(size * 8);
  const radix = kind === 'x' ? 16 : kind === 'o' ? 8 : 10;
  const largest = (2n ** bits - 1n).toString(radix).length;
  const width = kind === 'd' ? (2n ** (bits - 1n)).toString().length + 1 : largest;
  return {
    size,
    width,
    show(bytes) {
      const raw = [...bytes].toReversed().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
      const number = kind === 'd' ? BigInt.asIntN(size * 8, raw) : raw;
      return kind === 'x' || kind === 'o' ? number.toString(radix).padStart(largest, '0') : number.toString();
    },
  };
}

const printable = (bytes: Buffer) =>
  [...bytes].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
const hex = (bytes: Buffer) => bytes.toString('hex');

export const xxd: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({ letters: 'pruc:g:l:s:', long: {} });
    const value = (key: string, fallback: number) =>
      Number(options.findLast((option) => option.key === key)?.value ?? fallback);
    const has = (key: string) => options.some((option) => option.key === key);
    const whole = await bytesOf(call, operands.slice(0, 1));
    if (has('r')) {
      const text = whole.toString('latin1');
      const digits = has('p') ? text : text.replace(/^[0-9a-f]+: ?/gm, '').replace(/ {2}.*$/gm, '');
      call.print(Buffer.from(digits.replace(/[^0-9a-fA-F]/g, ''), 'hex'));
      return undefined;
    }
    const skip = value('s', 0);
    const bytes = whole.subarray(skip, skip + value('l', whole.length));
    const columns = value('c', has('p') ? 30 : 16);
    const group = value('g', 2);
    const written = (part: Buffer) => (has('u') ? hex(part).toUpperCase() : hex(part));
    for (let at = 0; at < bytes.length; at += columns) {
      const row = bytes.subarray(at, at + columns);
      if (has('p')) {
        call.print(`${written(row)}\n`);
        continue;
      }
      const groups: string[] = [];
      for (let from = 0; from < row.length; from += group || columns)
        groups.push(written(row.subarray(from, from + (group || columns))));
      const width = columns * 2 + Math.ceil(columns / (group || columns)) - 1;
      call.print(
        `${(at + skip).toString(16).padStart(8, '0')}: ${groups.join(' ').padEnd(width)}  ${printable(row)}\n`,
      );
    }
    return undefined;
  },
};

export const hexdump: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({ letters: 'Cn:s:v', long: {} });
    if (!options.some(({ key }) => key === 'C')) call.end('only -C is supported');
    const value = (key: string) => options.findLast((option) => option.key === key)?.value;
    const skip = Number(value('s') ?? 0);
    const whole = await bytesOf(call, operands);
    const bytes = whole.subarray(skip, value('n') == null ? whole.length : skip + Number(value('n')));
    for (let at = 0; at < bytes.length; at += 16) {
      const row = bytes.subarray(at, at + 16);
      const cells = Array.from({ length: 16 }, (_, index) =>
        index < row.length ? hex(row.subarray(index, index + 1)) : '  ',
      );
      const halves = `${cells.slice(0, 8).join(' ')}  ${cells.slice(8).join(' ')}`;
      call.print(`${(at + skip).toString(16).padStart(8, '0')}  ${halves}  |${printable(row)}|\n`);
    }
    if (bytes.length > 0) call.print(`${(bytes.length + skip).toString(16).padStart(8, '0')}\n`);
    return undefined;
  },
};
