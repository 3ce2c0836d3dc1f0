/**
 * The records of a tar: POSIX ustar headers, and pax records before an entry whose name, target or size does not fit
 * into one. Knows nothing of where the entries come from.
 */

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
/** Eleven octal digits. */
const LAST_OCTAL = 0o77777777777;
const CHECKSUM_AT = 148;
/** Where the prefix of a name begins, which is not used. */
const USED_BYTES = 345;
const TYPES = { file: '0', link: '2', directory: '5', pax: 'x' } as const;
const ASCII = /^[\x20-\x7e]*$/;
const NOTHING = Buffer.alloc(0);
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/** The two empty blocks behind the last entry. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

export interface TarEntry {
  /** Relative. That of a directory ends with a slash. */
  name: string;
  kind: 'file' | 'link' | 'directory';
  /** Permission bits. */
  mode: number;
  /** Epoch seconds, not negative; one beyond the year 2242 becomes that. */
  mtime: number;
  /** Of a link. */
  target?: string;
}

/** A content that is given in pieces. */
interface PiecedContent {
  /** Of all pieces together. */
  length: number;
  pieces: Iterable<Buffer>;
}

/** The records of one entry, owned by root; `content` is one of them, not a copy. */
export function* tarEntry(entry: TarEntry, content: Buffer | PiecedContent = NOTHING): Generator<Buffer> {
  const { name, target = '' } = entry;
  const size = content.length;
  const large: [key: string, value: string][] = [];
  if (!fits(name)) large.push(['path', name]);
  if (!fits(target)) large.push(['linkpath', target]);
  if (size > LAST_OCTAL) large.push(['size', String(size)]);
  if (large.length > 0) {
    const records = Buffer.concat(large.map(([key, value]) => paxRecord(key, value)));
    yield header({ ...entry, name: 'PaxHeader', target: '', kind: 'pax', size: records.length });
    yield* padded(records);
  }
  yield header({ ...entry, target, size });
  yield* padded(content);
}

/** Whether a text fits into a header, where it has no declared encoding. */
function fits(text: string): boolean {
  return text.length <= NAME_BYTES && ASCII.test(text);
}

function* padded(content: Buffer | PiecedContent): Generator<Buffer> {
  if ('pieces' in content) yield* content.pieces;
  else if (content.length > 0) yield content;
  const over = content.length % BLOCK_BYTES;
  if (over > 0) yield ZEROS.subarray(over);
}

type Header = Omit<TarEntry, 'kind'> & { kind: keyof typeof TYPES; size: number };

function header({ name, target = '', mode, mtime, size, kind }: Header): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  // What does not fit is in a pax record, which takes the place of this.
  block.write(name, 0, NAME_BYTES, 'utf8');
  octal(block, mode, 100, 7);
  octal(block, 0, 108, 7);
  octal(block, 0, 116, 7);
  octal(block, Math.min(size, LAST_OCTAL), 124, 11);
  octal(block, Math.min(mtime, LAST_OCTAL), 136, 11);
  block.fill(' ', CHECKSUM_AT, CHECKSUM_AT + 8);
  block.write(TYPES[kind], 156, 'latin1');
  block.write(target, 157, NAME_BYTES, 'utf8');
  block.write('ustar\x0000', 257, 'latin1');
  octal(block, 0, 329, 7);
  octal(block, 0, 337, 7);
  let sum = 0;
  // By index: an iterator over 512 bytes took more time than reading a small file. Behind the numbers it is empty.
  for (let at = 0; at < USED_BYTES; at += 1) sum += block[at] ?? 0;
  octal(block, sum, CHECKSUM_AT, 6);
  block[CHECKSUM_AT + 6] = 0;
  return block;
}

function octal(block: Buffer, value: number, at: number, digits: number): void {
  block.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
}

/** A record begins with its own length in decimal digits, which count too. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
