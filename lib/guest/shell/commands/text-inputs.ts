/** What the text commands share: their inputs, in order, as bytes; lines; and counts with GNU's suffixes. */
import { type CommandCall, reasonOf } from './own-command.ts';

export interface TextInput {
  /** As given; `-` for standard input. */
  name: string;
  bytes: Buffer;
}

/**
 * The inputs of a command: its operands, or standard input. One that cannot be read is reported as `sentence` says.
 */
export async function* textInputs(
  call: CommandCall,
  operands: readonly string[],
  sentence: (name: string, reason: string) => string = (name, reason) => `${name}: ${reason}`,
  exitCode = 1,
): AsyncGenerator<TextInput> {
  for (const name of operands.length === 0 ? ['-'] : operands) {
    await call.turn();
    let bytes: Buffer;
    try {
      bytes = await call.input(name);
    } catch (error) {
      call.fail(sentence(name, reasonOf(error)), exitCode);
      continue;
    }
    yield { name, bytes };
  }
}

/** Lines with their ends, the last one perhaps without. One character stands for one byte. */
export function byteLines(bytes: Buffer, end = '\n'): string[] {
  const text = bytes.toString('latin1');
  const lines = text.split(end);
  const last = lines.pop() ?? '';
  const whole = lines.map((line) => line + end);
  return last === '' ? whole : [...whole, last];
}

/** The bytes of the first lines. */
export function bytesOfLines(bytes: Uint8Array, lines: number): number {
  let at = 0;
  for (let line = 0; line < lines && at < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, at);
    at = end === -1 ? bytes.length : end + 1;
  }
  return at;
}

/** Prints text in which one character stands for one byte. */
export function printBytes(call: CommandCall, text: string): void {
  if (text !== '') call.print(Buffer.from(text, 'latin1'));
}

const UNITS: Readonly<Record<string, number>> = { b: 512, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/** A count like `10`, `-5`, `2K`, `1MB`; null when it is none. */
export function countOf(text: string): { sign: string; count: number } | null {
  const match = /^([+-]?)(\d+)(?:([bKMGTk])(B|iB)?)?$/.exec(text);
  if (!match) return null;
  const [, sign = '', digits = '', unit = '', decimal] = match;
  const large = UNITS[unit === 'k' ? 'K' : unit] ?? 1;
  const factor = decimal === 'B' ? 1000 ** (Math.log2(large) / 10) : large;
  return { sign, count: Number(digits) * factor };
}
