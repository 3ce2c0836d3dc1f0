/** `md5sum`, `sha256sum` and their like: prints the hashes of files, or checks a list of them. */
import { createHash } from 'node:crypto';
import { type CommandCall, type OwnCommand, reasonOf, textLines } from './own-command.ts';

interface Algorithm {
  /** Its name for the hash library. */
  hash: string;
  /** Its name in a tagged line. */
  tag: string;
}

interface CheckCounts {
  wrong: number;
  unreadable: number;
  malformed: number;
  checked: number;
}

function checksumCommand({ hash, tag }: Algorithm): OwnCommand {
  const hashOf = (content: Buffer) => createHash(hash).update(content).digest('hex');
  return {
    async main(call: CommandCall) {
      const { options, operands } = call.options({
        letters: 'bctwz',
        long: {
          binary: 'b',
          check: 'c',
          'ignore-missing': 'ignore-missing',
          quiet: 'quiet',
          status: 'status',
          strict: 'strict',
          tag: 'tag',
          text: 't',
          warn: 'w',
          zero: 'z',
        },
      });
      const has = (key: string) => options.some((option) => option.key === key);
      const binary = options.findLast(({ key }) => key === 'b' || key === 't')?.key === 'b';
      for (const name of operands.length > 0 ? operands : ['-']) {
        await call.turn();
        try {
          const content = await call.input(name);
          if (has('c')) {
            await check(call, name, content, hashOf, has);
            continue;
          }
          const [mark, shown] = has('z') ? ['', name] : escapedName(name);
          const line = has('tag')
            ? `${tag} (${shown}) = ${hashOf(content)}`
            : `${hashOf(content)} ${binary ? '*' : ' '}${shown}`;
          call.print(mark + line + (has('z') ? '\0' : '\n'));
        } catch (error) {
          call.fail(`${name}: ${reasonOf(error)}`);
        }
      }
      return undefined;
    },
  };
}

/** A name with a newline or a backslash is escaped, and its line begins with a backslash. */
function escapedName(name: string): [mark: string, shown: string] {
  if (!/[\\\n\r]/.test(name)) return ['', name];
  return ['\\', name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')];
}

const LINE = /^\\?(?:([\da-fA-F]{32,128}) [ *](.+)|[A-Za-z0-9-]+ \((.+)\) ?= ?([\da-fA-F]{32,128}))$/;

async function check(
  call: CommandCall,
  list: string,
  content: Buffer,
  hashOf: (content: Buffer) => string,
  has: (key: string) => boolean,
): Promise<void> {
  const counts: CheckCounts = { wrong: 0, unreadable: 0, malformed: 0, checked: 0 };
  const shows = (text: string) => {
    if (!has('status')) call.print(`${text}\n`);
  };
  for (const [at, line] of textLines(content).entries()) {
    if (line.startsWith('#')) continue;
    const [, plainHash, plainName, taggedName, taggedHash] = LINE.exec(line) ?? [];
    const [expected, written] = [plainHash ?? taggedHash, plainName ?? taggedName];
    if (expected === undefined || written === undefined || expected.length !== hashOf(Buffer.alloc(0)).length) {
      counts.malformed += 1;
      if (has('w'))
        call.warn(
          `${call.name}: ${list}: ${at + 1}: improperly formatted ${call.name.replace('sum', '').toUpperCase()} checksum line\n`,
        );
      continue;
    }
    const name = line.startsWith('\\')
      ? written.replaceAll(/\\(.)/g, (_, one: string) => ({ n: '\n', r: '\r' })[one] ?? one)
      : written;
    await checkFile(call, name, expected, hashOf, {
      counts,
      shows,
      ignores: has('ignore-missing'),
      quiet: has('quiet'),
    });
  }
  tell(call, list, counts, has);
}

interface Checking {
  counts: CheckCounts;
  shows: (text: string) => void;
  ignores: boolean;
  quiet: boolean;
}

async function checkFile(
  call: CommandCall,
  name: string,
  expected: string,
  hashOf: (content: Buffer) => string,
  { counts, shows, ignores, quiet }: Checking,
): Promise<void> {
  try {
    const right = hashOf(await call.input(name)) === expected.toLowerCase();
    counts.checked += 1;
    if (!right) counts.wrong += 1;
    if (!right || !quiet) shows(`${name}: ${right ? 'OK' : 'FAILED'}`);
  } catch (error) {
    const reason = reasonOf(error);
    if (ignores && reason === 'No such file or directory') return;
    counts.checked += 1;
    counts.unreadable += 1;
    call.warn(`${call.name}: ${name}: ${reason}\n`);
    shows(`${name}: FAILED open or read`);
  }
}

function tell(call: CommandCall, list: string, counts: CheckCounts, has: (key: string) => boolean): void {
  const shown = list === '-' ? "'standard input'" : list;
  if (counts.checked === 0 && !(has('ignore-missing') && counts.malformed === 0)) {
    call.fail(`${shown}: no properly formatted checksum lines found`);
    return;
  }
  const warn = (count: number, one: string, many: string) => {
    if (count > 0 && !has('status')) call.warn(`${call.name}: WARNING: ${count} ${count === 1 ? one : many}\n`);
  };
  warn(counts.malformed, 'line is improperly formatted', 'lines are improperly formatted');
  warn(counts.unreadable, 'listed file could not be read', 'listed files could not be read');
  warn(counts.wrong, 'computed checksum did NOT match', 'computed checksums did NOT match');
  if (counts.checked === 0) call.fail(`${shown}: no file was verified`);
  if (counts.wrong > 0 || counts.unreadable > 0 || (has('strict') && counts.malformed > 0)) call.exitCode = 1;
}

export const md5sum = checksumCommand({ hash: 'md5', tag: 'MD5' });
export const sha1sum = checksumCommand({ hash: 'sha1', tag: 'SHA1' });
export const sha224sum = checksumCommand({ hash: 'sha224', tag: 'SHA224' });
export const sha256sum = checksumCommand({ hash: 'sha256', tag: 'SHA256' });
export const sha384sum = checksumCommand({ hash: 'sha384', tag: 'SHA384' });
export const sha512sum = checksumCommand({ hash: 'sha512', tag: 'SHA512' });
export const b2sum = checksumCommand({ hash: 'blake2b512', tag: 'BLAKE2b' });

const CRC_POLYNOMIAL = 0x04c11db7;

export const cksum: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({ letters: 'a:', long: { 'algorithm=': 'a' } });
    const algorithm = options.at(-1)?.value ?? 'crc';
    if (algorithm !== 'crc') call.end(`the algorithm ${algorithm} is not supported: use ${algorithm}sum`);
    for (const name of operands.length > 0 ? operands : ['-']) {
      await call.turn();
      try {
        const content = await call.input(name);
        const shown = operands.length > 0 ? ` ${name}` : '';
        call.print(`${crcOf(content)} ${content.length}${shown}\n`);
      } catch (error) {
        call.fail(`${name}: ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};

/** The CRC of POSIX, over the bytes and then their number. */
function crcOf(content: Buffer): number {
  const table = Array.from({ length: 256 }, (_, byte) => {
    let value = byte << 24;
    for (let bit = 0; bit < 8; bit += 1) value = value < 0 ? (value << 1) ^ CRC_POLYNOMIAL : value << 1;
    return value;
  });
  let crc = 0;
  const add = (byte: number) => {
    crc = (crc << 8) ^ (table[((crc >>> 24) ^ byte) & 0xff] ?? 0);
  };
  for (const byte of content) add(byte);
  for (let length = content.length; length > 0; length = Math.floor(length / 256)) add(length & 0xff);
  return ~crc >>> 0;
}
