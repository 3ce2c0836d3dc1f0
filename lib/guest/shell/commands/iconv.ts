/**
 * `iconv`: text from one character set to another. What can be read is what the platform's decoder reads; what can be
 * written is found by reading every code of one or two bytes.
 */
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const SPELLINGS: Readonly<Record<string, string>> = {
  ASCII: 'ascii',
  'US-ASCII': 'ascii',
  'ANSI_X3.4-1968': 'ascii',
  LATIN1: 'latin1',
  'ISO-8859-1': 'latin1',
  'ISO8859-1': 'latin1',
  ISO88591: 'latin1',
  'UTF-8': 'utf-8',
  UTF8: 'utf-8',
  'UTF-16': 'utf-16',
  UTF16: 'utf-16',
  'UTF-16LE': 'utf-16le',
  UTF16LE: 'utf-16le',
  'UTF-16BE': 'utf-16be',
  UTF16BE: 'utf-16be',
  'UCS-2': 'utf-16le',
  'UTF-32': 'utf-32',
  UTF32: 'utf-32',
  'UTF-32LE': 'utf-32le',
  'UCS-4LE': 'utf-32le',
  'UTF-32BE': 'utf-32be',
  'UCS-4': 'utf-32be',
};
/** Sets whose codes are one or two bytes long, which the decoder reads. */
const TABLES = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'big5']);
const LISTED =
  'ASCII BIG5 CP1250 CP1251 CP1252 CP1253 CP1254 CP1255 CP1256 CP1257 CP1258 CP866 EUC-JP EUC-KR GB18030 GBK ISO-8859-1 ISO-8859-2 ISO-8859-3 ISO-8859-4 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-10 ISO-8859-13 ISO-8859-14 ISO-8859-15 ISO-8859-16 KOI8-R KOI8-U MACINTOSH SHIFT_JIS UTF-8 UTF-16 UTF-16BE UTF-16LE UTF-32 UTF-32BE UTF-32LE'.split(
    ' ',
  );
/** How `//TRANSLIT` writes what has no letter of its own below, beside letters that lose their accents. */
const SIMILAR: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '…': '...',
  '€': 'EUR',
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  '©': '(C)',
  '®': '(R)',
  '«': '<<',
  '»': '>>',
  '\u00a0': ' ',
};

export const iconv: OwnCommand = {
  like: 'libc 2.36',
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'cf:lo:st:',
      long: { 'from-code=': 'f', list: 'l', 'output=': 'o', silent: 's', 'to-code=': 't', verbose: 'verbose' },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (key: string) => options.some((option) => option.key === key);
    if (has('l')) {
      call.print(LISTED.map((name) => `${name}//\n`).join(''));
      return 0;
    }
    const [to = '', ...how] = (value('t') ?? 'UTF-8').toUpperCase().split('//');
    const [from = ''] = (value('f') ?? 'UTF-8').toUpperCase().split('//');
    const [source, target] = [nameOf(from), nameOf(to)];
    const known = [canRead(source), encoderOf(target)] as const;
    if (!known[0] || known[1] === null) {
      const wrong = [known[0] ? [] : `from ${quoted(value('f'))}`, known[1] === null ? `to ${quoted(value('t'))}` : []];
      const parts = wrong.flat();
      call.warn(`iconv: conversion ${parts.join(' ')} is not supported\n`);
      call.warn("Try `iconv --help' or `iconv --usage' for more information.\n");
      return 1;
    }
    const parts: Buffer[] = [];
    for (const name of operands.length === 0 ? ['-'] : operands) {
      try {
        parts.push(await call.input(name));
      } catch (error) {
        call.warn(`iconv: cannot open input file \`${name}': ${reasonOf(error)}\n`);
        return 1;
      }
    }
    const ignores = how.some((word) => word.includes('IGNORE'));
    const drops = has('c') || ignores;
    const written = await converted(call, Buffer.concat(parts), source, known[1], {
      drops,
      ignores,
      similar: how.some((word) => word.includes('TRANSLIT')),
    });
    const output = value('o');
    if (output === null) call.print(written);
    else {
      try {
        await call.changes.writeFile(call.path(output), written);
      } catch (error) {
        call.warn(`iconv: unable to open output file: ${reasonOf(error)}\n`);
        return 1;
      }
    }
    return undefined;
  },
};

const quoted = (name: string | null) => `\`${name ?? ''}'`;

function nameOf(given: string): string {
  const spelling = SPELLINGS[given];
  if (spelling !== undefined) return spelling;
  return given
    .replace(/^CP(125\d)$/, 'windows-$1')
    .replace(/^CP(?=866)/, 'ibm')
    .replace(/^SJIS$|^CP932$/, 'shift_jis')
    .replace(/^CP936$/, 'gbk')
    .replace(/^ISO_?8859-/, 'ISO-8859-')
    .toLowerCase();
}

function canRead(name: string): boolean {
  if (/^(?:ascii|latin1|utf-(?:8|16|16le|16be|32|32le|32be))$/.test(name)) return true;
  if (!LISTED.some((listed) => nameOf(listed) === name)) return false;
  try {
    return new TextDecoder(name).encoding !== '';
  } catch {
    return false;
  }
}

/** Where in the input text ends that can be read. */
interface Decoded {
  text: string;
  stop: number | null;
}

function decoded(bytes: Buffer, name: string, drops: boolean): Decoded {
  if (name === 'latin1') return { text: bytes.toString('latin1'), stop: null };
  if (name.startsWith('utf-32')) return fromUtf32(bytes, name, drops);
  const at = name === 'ascii' ? bytes.findIndex((byte) => byte > 127) : -1;
  if (name === 'ascii')
    return at === -1 || drops
      ? { text: Buffer.from(bytes.filter((byte) => byte < 128)).toString('latin1'), stop: null }
      : { text: bytes.subarray(0, at).toString('latin1'), stop: at };
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff;
  const label = name === 'utf-16' ? (isBig ? 'utf-16be' : 'utf-16le') : name;
  const ignoreBOM = name !== 'utf-16';
  try {
    return { text: new TextDecoder(label, { fatal: true, ignoreBOM }).decode(bytes), stop: null };
  } catch {
    if (drops)
      return { text: new TextDecoder(label, { ignoreBOM }).decode(bytes).replaceAll('\ufffd', ''), stop: null };
    // The longest beginning that can be read.
    const streaming = new TextDecoder(label, { fatal: true, ignoreBOM });
    let [text, good] = ['', 0];
    for (let index = 0; index < bytes.length; index += 1) {
      try {
        const part = streaming.decode(bytes.subarray(index, index + 1), { stream: true });
        if (part !== '') {
          text += part;
          good = index + 1;
        }
      } catch {
        break;
      }
    }
    return { text, stop: good };
  }
}

function fromUtf32(bytes: Buffer, name: string, drops: boolean): Decoded {
  const hasMark = name === 'utf-32' && bytes.length >= 4;
  const isBig = name === 'utf-32be' || (hasMark && bytes.readUInt32BE(0) === 0xfeff);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const code = at + 4 > bytes.length ? -1 : isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    const isCode = code >= 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    if (!isCode && !drops) return { text, stop: at };
    if (isCode && !(at === 0 && hasMark && code === 0xfeff)) text += String.fromCodePoint(code);
  }
  return { text, stop: null };
}

type Encoder = { prefix?: Buffer; encode: (character: string) => Buffer | null };

function encoderOf(name: string): Encoder | null {
  const wide = (big: boolean, size: 2 | 4) => (character: string) => {
    if (size === 4) {
      const bytes = Buffer.alloc(4);
      const code = character.codePointAt(0) ?? 0;
      if (big) bytes.writeUInt32BE(code);
      else bytes.writeUInt32LE(code);
      return bytes;
    }
    const bytes = Buffer.from(character, 'utf16le');
    return big ? bytes.swap16() : bytes;
  };
  if (name === 'utf-8') return { encode: (character) => Buffer.from(character) };
  if (name === 'utf-16le' || name === 'utf-16be') return { encode: wide(name.endsWith('be'), 2) };
  if (name === 'utf-16') return { prefix: Buffer.from([0xff, 0xfe]), encode: wide(false, 2) };
  if (name === 'utf-32le' || name === 'utf-32be') return { encode: wide(name.endsWith('be'), 4) };
  if (name === 'utf-32') return { prefix: Buffer.from([0xff, 0xfe, 0, 0]), encode: wide(false, 4) };
  if (name === 'ascii' || name === 'latin1') {
    const last = name === 'ascii' ? 127 : 255;
    return {
      encode: (character) => {
        const code = character.codePointAt(0) ?? 0;
        return code > last ? null : Buffer.from([code]);
      },
    };
  }
  if (!canRead(name) || name === 'gb18030') return null;
  const table = codesOf(name);
  return { encode: (character) => table.get(character) ?? null };
}

/** The code of each character of a set. */
function codesOf(name: string): Map<string, Buffer> {
  const decoder = new TextDecoder(name);
  const table = new Map<string, Buffer>();
  const note = (bytes: number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if (!text.includes('\ufffd') && [...text].length === 1 && !table.has(text)) table.set(text, Buffer.from(bytes));
  };
  for (let byte = 0; byte < 256; byte += 1) note([byte]);
  if (!TABLES.has(name)) return table;
  for (let first = 0x81; first < 0xff; first += 1) for (let byte = 0x40; byte < 0xff; byte += 1) note([first, byte]);
  return table;
}

async function converted(
  call: CommandCall,
  bytes: Buffer,
  from: string,
  { prefix, encode }: Encoder,
  { drops, ignores, similar }: { drops: boolean; ignores: boolean; similar: boolean },
): Promise<Buffer> {
  const { text, stop } = decoded(bytes, from, drops);
  const parts: Buffer[] = prefix ? [prefix] : [];
  let [position, dropped] = [0, false];
  for (const character of text) {
    const code = encode(character) ?? (similar ? similarOf(character, encode) : null);
    if (code !== null) parts.push(code);
    else if (drops) dropped = true;
    else {
      call.print(Buffer.concat(parts));
      call.warn(`iconv: illegal input sequence at position ${position}\n`);
      call.exitCode = 1;
      return Buffer.alloc(0);
    }
    position += from === 'utf-8' ? Buffer.byteLength(character) : 1;
    await call.turn();
  }
  if (stop !== null) {
    const isShort = from === 'utf-8' && bytes.length - stop < 4 && isBeginning(bytes.subarray(stop));
    call.warn(
      isShort
        ? 'iconv: incomplete character or shift sequence at end of buffer\n'
        : `iconv: illegal input sequence at position ${stop}\n`,
    );
    call.exitCode = 1;
  }
  // The real one says so behind what it wrote.
  if (dropped && ignores) {
    call.warn(`iconv: illegal input sequence at position ${position}\n`);
    call.exitCode = 1;
  }
  return Buffer.concat(parts);
}

/** Whether bytes are the beginning of one character of UTF-8. */
function isBeginning(bytes: Buffer): boolean {
  const [first = 0, ...rest] = bytes;
  const length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  return first < 0xf5 && bytes.length < length && rest.every((byte) => byte >= 0x80 && byte < 0xc0);
}

function similarOf(character: string, encode: Encoder['encode']): Buffer {
  const plain = SIMILAR[character] ?? character.normalize('NFD').replaceAll(/\p{M}/gu, '');
  const codes = [...plain].map((letter) => encode(letter));
  const whole = plain !== '' && codes.every((code) => code !== null);
  return whole ? Buffer.concat(codes as Buffer[]) : Buffer.from('?');
}
