/**
 * Bounds the cost of parsing a JSON text before it is parsed: a value of a few bytes takes about a hundred bytes of
 * memory, and parsing blocks the thread. Pure.
 */

/** The deepest nesting allowed. */
const MAX_DEPTH = 500;
/**
 * Most values of a text that comes from elsewhere: a job of 10 000 ids has a fifth. The slowest of so many, objects of
 * different keys, take 31 ms to parse.
 */
export const MOST_JSON_VALUES = 50_000;
/** Bytes that hold neither too many values nor, being JSON, too deep ones: what opens must close. */
const LIGHT_BYTES = 2 * MAX_DEPTH;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Weighs a UTF-8 text of `bytes` bytes piece by piece, as it arrives. */
export class JsonWeight {
  readonly #most: number;
  readonly #isLight: boolean;
  #values = 0;
  #depth = 0;
  #inString = false;
  #skipped = 0;

  /** `most`: values. */
  constructor(bytes: number, most = MOST_JSON_VALUES) {
    this.#most = most;
    this.#isLight = bytes <= Math.min(LIGHT_BYTES, most) && Number.isFinite(most);
  }

  /** Those that were counted so far. */
  get values(): number {
    return this.#values;
  }

  /**
   * Whether the text, if it is JSON, has too many values or nests too deeply, by all that was added. Long strings count
   * as one value.
   */
  isHeavyWith(text: Uint8Array, from = 0, to = text.length): boolean {
    if (this.#isLight) return false;
    // Where a piece ends inside a string, the next one goes on there: one byte further after a backslash.
    let at = from + this.#skipped;
    this.#skipped = 0;
    let [values, depth, inString] = [this.#values, this.#depth, this.#inString];
    for (; at < to; at += 1) {
      const byte = text[at];
      if (inString || byte === QUOTE) {
        if (!inString) at += 1;
        while (at < to && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
        inString = at >= to;
        if (inString) break;
      } else if (byte === COMMA) values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        values += 1;
        depth += 1;
        if (depth > MAX_DEPTH) return true;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    }
    if (inString) this.#skipped = at - to;
    [this.#values, this.#depth, this.#inString] = [values, depth, inString];
    return values > this.#most;
  }
}

/** Whether a value that was parsed nests too deeply to be walked through: parsing itself does not mind. */
export function isDeepValue(value: unknown, most = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  return most === 0 || Object.values(value).some((inner) => isDeepValue(inner, most - 1));
}

/** About how many values a JSON text has: its commas, lists and objects. Infinity when it nests too deeply. */
export function countJsonValues(text: string): number {
  const bytes = Buffer.from(text);
  const weight = new JsonWeight(bytes.length, Number.POSITIVE_INFINITY);
  return weight.isHeavyWith(bytes) ? Number.POSITIVE_INFINITY : weight.values;
}

/** Whether a UTF-8 text, if it is JSON, has more than `most` values or nests too deeply. */
export function isHeavyJson(text: Uint8Array, most = MOST_JSON_VALUES): boolean {
  return new JsonWeight(text.length, most).isHeavyWith(text);
}

/**
 * The value of a JSON text from elsewhere. Throws SyntaxError for what is no JSON, and RangeError, before anything is
 * parsed, for one that has more than `most` values or nests too deeply.
 */
export function parseLightJson(text: string | Uint8Array, most = MOST_JSON_VALUES): unknown {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  if (isHeavyJson(bytes, most)) throw new RangeError('The JSON text has too many values, or too many in each other.');
  return JSON.parse(
    typeof text === 'string' ? text : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(),
  );
}
