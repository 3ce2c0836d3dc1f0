/** `zgrep`: `grep` in files that may be compressed with gzip. */
import { gunzipSync } from 'node:zlib';
import { type OwnCommand, reasonOf } from './own-command.ts';

/** Options of grep whose value may be the next argument. */
const WITH_VALUE = /^(?:-[a-zA-Z]*[efmABCdD]|--(?:regexp|file|max-count|label|include|exclude|color))$/;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const MAX_BYTES = 256 * 1024 * 1024;
const TROUBLE = 2;

export const zgrep: OwnCommand = {
  like: 'gzip 1.12',
  usageExit: TROUBLE,
  help: 'Usage: zgrep [OPTION]... [-e] PATTERN [FILE]...',
  async main(call) {
    const options: string[] = [];
    const operands: string[] = [];
    let givesPattern = false;
    for (let at = 0; at < call.args.length; at += 1) {
      const word = call.args[at] ?? '';
      if (word === '--') {
        operands.push(...call.args.slice(at + 1));
        break;
      }
      if (!word.startsWith('-') || word === '-') operands.push(word);
      else {
        options.push(word);
        givesPattern ||= /^-[a-zA-Z]*[ef]|^--(?:regexp|file)\b/.test(word);
        if (WITH_VALUE.test(word)) options.push(call.args[++at] ?? '');
      }
    }
    const pattern = givesPattern ? [] : ['-e', operands.shift() ?? call.usage('missing pattern')];
    const names = operands.length === 0 ? ['-'] : operands;
    const many = names.length > 1 ? ['-H'] : [];
    let exitCode = 1;
    for (const name of names) {
      let content: Buffer;
      try {
        const bytes = await call.input(name);
        content = bytes.subarray(0, 2).equals(GZIP_MAGIC) ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes;
      } catch (error) {
        call.fail(`${name}: ${isDamaged(error) ? 'invalid compressed data' : reasonOf(error)}`, TROUBLE);
        continue;
      }
      const label = name === '-' ? '(standard input)' : name;
      const found = await call.run(['grep', ...many, ...options, `--label=${label}`, ...pattern], { stdin: content });
      exitCode =
        found === 0 && exitCode !== TROUBLE ? 0 : Math.max(exitCode === 0 && found === 1 ? 0 : found, exitCode);
    }
    return Math.max(exitCode, call.exitCode);
  },
};

function isDamaged(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:Z_|ERR_)/.test(String(error.code));
}
