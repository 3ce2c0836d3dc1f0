/**
 * How much a JSON text would become before it is parsed: a few bytes of text for every value become a hundred of
 * memory, and all of them while nothing else runs. Pure.
 */

/** How deep values may lie in each other. */
const MAX_DEPTH = 500;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether a text in UTF-8 that may be JSON holds more than `most` values, or too many in each other. Long strings only
 * cost what they are long.
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
