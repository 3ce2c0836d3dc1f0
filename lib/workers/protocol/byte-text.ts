/**
 * Lossless conversion between bytes and text. Valid UTF-8 is decoded; every other byte becomes a lone surrogate
 * U+DC80–U+DCFF, like Python's `surrogateescape` (PEP 383). Pure; knows nothing of the shell.
 */

/** A byte `b` that is not UTF-8 becomes the code unit `ESCAPE + b`. */
const ESCAPE = 0xdc00;
/** The range of surrogates. */
const [FIRST_HALF, LAST_HALF] = [0xd800, 0xdfff];
/** Maximum UTF-8 bytes of one code unit. */
const LONGEST_UNIT = 3;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes any bytes; `bytesOfText` restores them. */
export function textOfBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return escaped(bytes);
  }
}

/** Encodes text. Escaped bytes are restored; any other lone surrogate becomes U+FFFD. */
export function bytesOfText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes = Buffer.allocUnsafe(text.length * LONGEST_UNIT);
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes[end++] = unit;
    else if (unit < 0x800) {
      bytes[end++] = 0xc0 | (unit >> 6);
      bytes[end++] = 0x80 | (unit & 0x3f);
    } else if (unit >= FIRST_HALF && unit <= LAST_HALF) {
      const character = text.codePointAt(at) ?? 0;
      if (character > 0xffff) at += 1;
      if (unit > ESCAPE + 0x7f && unit <= ESCAPE + 0xff) bytes[end++] = unit - ESCAPE;
      else end += bytes.write(character > 0xffff ? String.fromCodePoint(character) : '\ufffd', end);
    } else {
      bytes[end++] = 0xe0 | (unit >> 12);
      bytes[end++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[end++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes.subarray(0, end);
}

/** One byte as text: ASCII as it is, any other byte escaped. For code that builds text byte by byte. */
export function textOfByte(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : ESCAPE + (byte & 0xff));
}

/**
 * Decodes text again that was built byte by byte, so that escaped bytes which form a character become that character.
 */
export function redecode(text: string): string {
  return text.isWellFormed() ? text : textOfBytes(bytesOfText(text));
}

/**
 * The number of bytes in the first `count` characters of a byte string (one char per byte), as `textOfBytes` decodes
 * them. Each character that it lacks counts as one, so that a string which is too short is seen to be.
 */
export function bytesOfCharacters(content: string, count: number): number {
  let at = 0;
  let taken = 0;
  for (; taken < count && at < content.length; taken += 1) {
    const character = Buffer.from(content.slice(at, at + 4), 'latin1');
    at += characterAt(character, 0) || 1;
  }
  return at + count - taken;
}

/** The number of bytes at the end that start an incomplete character: 0 to 3. */
export function unfinishedEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const first = bytes[bytes.length - back] ?? 0;
    if ((first & 0xc0) === 0x80) continue;
    // Incomplete: some continuation bytes would complete it, and the bytes so far are not too many.
    const begun = [...bytes.subarray(-back)];
    const ends = [0x80, 0x90, 0xa0].some(
      (next) => characterAt(Uint8Array.from([...begun, next, 0x80, 0x80]), 0) > back,
    );
    return ends ? back : 0;
  }
  return 0;
}

function escaped(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length);
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    const first = bytes[at] ?? 0;
    if (length <= 1) units[end++] = length === 1 ? first : ESCAPE + first;
    else {
      let character = first & (0x7f >> length);
      for (let next = at + 1; next < at + length; next += 1) character = (character << 6) | ((bytes[next] ?? 0) & 0x3f);
      if (length === 4) {
        units[end++] = FIRST_HALF + ((character - 0x10000) >> 10);
        units[end++] = ESCAPE + ((character - 0x10000) & 0x3ff);
      } else units[end++] = character;
    }
    at += length || 1;
  }
  return Buffer.from(units.buffer, 0, end * 2).toString('utf16le');
}

/** The byte length of the character at `at`; 0 for invalid UTF-8 (RFC 3629: no overlong forms, no surrogates). */
function characterAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  const second = bytes[at + 1] ?? 0;
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (length === 0 || second < lowest || second > highest) return 0;
  for (let next = at + 2; next < at + length; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
