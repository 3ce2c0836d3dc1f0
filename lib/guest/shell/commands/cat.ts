/** `cat`: inputs one after the other, with numbers and marks as asked. */
import { BROKEN_PIPE_EXIT } from '../pipes.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';
import { deviceOf, printEndless } from './producers.ts';
import { byteLines, printBytes } from './text-inputs.ts';

const NUMBER_WIDTH = 6;

interface Marks {
  numbers: 'none' | 'all' | 'filled';
  squeezed: boolean;
  ends: boolean;
  tabs: boolean;
  hidden: boolean;
}

export const cat: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'AbeEnstTuv',
      long: {
        'show-all': 'A',
        'number-nonblank': 'b',
        'show-ends': 'E',
        number: 'n',
        'squeeze-blank': 's',
        'show-tabs': 'T',
        'show-nonprinting': 'v',
      },
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const marks: Marks = {
      numbers: has('b') ? 'filled' : has('n') ? 'all' : 'none',
      squeezed: has('s'),
      ends: has('A', 'e', 'E'),
      tabs: has('A', 't', 'T'),
      hidden: has('A', 'e', 't', 'v'),
    };
    const isPlain = marks.numbers === 'none' && !(marks.squeezed || marks.ends || marks.tabs || marks.hidden);
    const parts: Buffer[] = [];
    // The second time nothing is left of the standard input.
    const isInput = (name: string) => name === '-' || name === '/dev/stdin';
    const again = operands.filter(isInput).length > 1 ? operands.findIndex(isInput) : -1;
    for (const [at, name] of (operands.length === 0 ? ['-'] : operands).entries()) {
      await call.turn();
      if (again !== -1 && at > again && isInput(name)) continue;
      const device = deviceOf(call, name);
      if (device !== null && isPlain) {
        const exitCode = await printEndless(call, device);
        call.fail(`${name}: it has no end, ${call.printed.length} bytes were read`, exitCode);
        return exitCode;
      }
      try {
        const bytes = await call.input(name);
        if (isPlain) call.print(bytes);
        else parts.push(bytes);
        if (device !== null) call.fail(`${name}: it has no end, ${bytes.length} bytes were read`, BROKEN_PIPE_EXIT);
      } catch (error) {
        call.fail(`${name}: ${reasonOf(error)}`);
      }
    }
    if (!isPlain) printMarked(call, Buffer.concat(parts), marks);
    return undefined;
  },
};

function printMarked(call: CommandCall, bytes: Buffer, marks: Marks): void {
  let number = 0;
  let wasBlank = false;
  const shown = byteLines(bytes).map((line) => {
    const ended = line.endsWith('\n');
    const text = ended ? line.slice(0, -1) : line;
    const isBlank = text === '' && ended;
    if (marks.squeezed && isBlank && wasBlank) return '';
    wasBlank = isBlank;
    const numbered = marks.numbers === 'all' || (marks.numbers === 'filled' && !isBlank);
    if (numbered) number += 1;
    const before = numbered ? `${String(number).padStart(NUMBER_WIDTH)}\t` : '';
    return `${before}${visible(text, marks, ended)}${ended && marks.ends ? '$' : ''}${ended ? '\n' : ''}`;
  });
  printBytes(call, shown.join(''));
}

function visible(text: string, { tabs, hidden, ends }: Marks, ended: boolean): string {
  if (!tabs && !hidden) return ends && ended ? text.replace(/\r$/, '^M') : text;
  return [...text]
    .map((byte) => (byte === '\t' ? (tabs ? '^I' : byte) : hidden ? visibleByte(byte.charCodeAt(0)) : byte))
    .join('');
}

function visibleByte(byte: number): string {
  if (byte >= 128) return `M-${visibleByte(byte - 128)}`;
  if (byte === 127) return '^?';
  return byte < 32 ? `^${String.fromCharCode(byte + 64)}` : String.fromCharCode(byte);
}
