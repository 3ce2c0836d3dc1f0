/**
 * Bounds the cost of parsing a JSON text before it is parsed: a value of a few bytes takes about a hundred bytes of
 * memory, and parsing blocks the thread. Pure.
 */

/** The deepest nesting allowed. */
const MAX_DEPTH = 500;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether a UTF-8 text, if it is JSON, has more than `most` values or nests too deeply. Long strings count as one
 * value.
 */
export function isHeavyJson(text: Uint8Array, most: number): boolean {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      at += 1;
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
    } else if (byte === COMMA) values += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH || values > most) return true;
  }
  return false;
}
