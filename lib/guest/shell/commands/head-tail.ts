/** `head` and `tail`: the first or last lines or bytes of inputs. */
import type { CommandCall, OwnCommand } from './own-command.ts';
import { reasonOf } from './own-command.ts';
import { deviceOf, MAX_DEVICE_BYTES } from './producers.ts';
import { type FollowedFile, follow } from './tail-follow.ts';
import { byteLines, countOf, printBytes } from './text-inputs.ts';

const TABLE = {
  letters: 'n:c:qvzfFs:',
  long: {
    'lines=': 'n',
    'bytes=': 'c',
    quiet: 'q',
    silent: 'q',
    verbose: 'v',
    'zero-terminated': 'z',
    'follow=?': 'f',
    retry: 'retry',
    'sleep-interval=': 's',
    'pid=': 'pid',
  },
};

/** Bytes that `head -n` reads of a pipe at once. */
const HEAD_BLOCK = 8192;

interface Extent {
  unit: 'lines' | 'bytes';
  /** `-` of head: all but the last; `+` of tail: from there on. */
  sign: string;
  count: number;
  end: string;
}

/** Bytes that `head -c` reads of a device without an end: those asked for, as many as a file may have. */
function countOfDevice(call: CommandCall, { count }: Extent): number {
  if (count > MAX_DEVICE_BYTES) call.end(`cannot read ${count} bytes of a device: ${MAX_DEVICE_BYTES} at most`);
  return count;
}

export const head: OwnCommand = { main: (call) => run(call, firstOf) };
export const tail: OwnCommand = { main: (call) => run(call, lastOf) };

async function run(call: CommandCall, part: (bytes: Buffer, extent: Extent) => string): Promise<number | undefined> {
  // The old form: `head -5`, `tail -5`, `tail +5`.
  const old = /^([-+])(\d+)([cq]?)$/.exec(call.args[0] ?? '');
  if (old && (old[1] === '-' || call.name === 'tail'))
    call.args.splice(0, 1, old[3] === 'c' ? '-c' : '-n', `${old[1] === '+' ? '+' : ''}${old[2]}`);
  const { options, operands } = call.options(TABLE);
  const extent: Extent = { unit: 'lines', sign: '', count: 10, end: '\n' };
  let titles: boolean | null = null;
  for (const { key, value } of options) {
    if (key === 'n' || key === 'c') {
      const count = countOf(value ?? '');
      const unit = key === 'n' ? 'lines' : 'bytes';
      if (count === null) call.end(`invalid number of ${unit}: ‘${value}’`);
      const isPlain = call.name === 'head' ? count.sign === '+' : count.sign === '-';
      Object.assign(extent, count, { unit, sign: isPlain ? '' : count.sign });
    } else if (key === 'q' || key === 'v') titles = key === 'v';
    else if (key === 'z') extent.end = '\0';
    else if (call.name === 'head') call.usage(`invalid option -- '${key}'`);
  }
  const follows = options.some(({ key }) => key === 'f' || key === 'F');
  const names = operands.length === 0 ? ['-'] : operands;
  const shown = titles ?? names.length > 1;
  let first = true;
  const followed: FollowedFile[] = [];
  const missing: string[] = [];
  for (const name of names) {
    await call.turn();
    let bytes: Buffer;
    const title = () => {
      if (shown) call.print(`${first ? '' : '\n'}==> ${name === '-' ? 'standard input' : name} <==\n`);
      first = false;
    };
    try {
      const device = call.name === 'head' && extent.unit === 'bytes' ? deviceOf(call, name) : null;
      bytes = device !== null && extent.sign === '' ? device(countOfDevice(call, extent)) : await call.input(name);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== 'Is a directory') {
        call.fail(`cannot open '${name}' for reading: ${reason}`);
        missing.push(name);
      } else {
        title();
        call.fail(`error reading '${name}': ${reason}`);
      }
      continue;
    }
    title();
    const printed = part(bytes, extent);
    printBytes(call, printed);
    if (call.name === 'head' && hasAll(printed, extent)) {
      call.endedEarly = true;
      if (name === '-') call.stdinTaken = { bytes: printed.length, block: extent.unit === 'bytes' ? 1 : HEAD_BLOCK };
    }
    followed.push({ name, bytes: bytes.length });
  }
  if (!follows) return undefined;
  const retries = options.some(({ key }) => key === 'F' || key === 'retry');
  if (retries) for (const name of missing) followed.push({ name, bytes: null });
  return follow(call, followed, shown);
}

function firstOf(bytes: Buffer, { unit, sign, count, end }: Extent): string {
  if (unit === 'bytes') {
    const to = sign === '-' ? Math.max(0, bytes.length - count) : count;
    return bytes.subarray(0, to).toString('latin1');
  }
  if (sign === '-') {
    const lines = byteLines(bytes, end);
    return lines.slice(0, Math.max(0, lines.length - count)).join('');
  }
  let at = 0;
  for (let line = 0; line < count && at < bytes.length; line += 1) {
    const next = bytes.indexOf(end, at);
    at = next === -1 ? bytes.length : next + 1;
  }
  return bytes.subarray(0, at).toString('latin1');
}

/** Whether head reads no further. */
function hasAll(printed: string, { unit, sign, count, end }: Extent): boolean {
  if (sign === '-') return false;
  return unit === 'bytes' ? printed.length >= count : printed.split(end).length > count;
}

function lastOf(bytes: Buffer, { unit, sign, count, end }: Extent): string {
  if (unit === 'bytes') {
    const from = sign === '+' ? Math.max(0, count - 1) : Math.max(0, bytes.length - count);
    return bytes.subarray(from).toString('latin1');
  }
  const lines = byteLines(bytes, end);
  return lines.slice(sign === '+' ? Math.max(0, count - 1) : Math.max(0, lines.length - count)).join('');
}
