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
  /** Whether the next byte of the string follows a backslash. */
  #isEscaped = false;

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
    const piece = text.subarray(from, to);
    let at = 0;
    if (this.#inString) {
      // A backslash at the end of the piece before was for its first byte.
      at = endOfString(piece, this.#isEscaped ? 1 : 0) + 1;
      if (at === 0) return this.#goesOn(piece);
      this.#inString = false;
    }
    let [values, depth] = [this.#values, this.#depth];
    for (; at < piece.length; at += 1) {
      const byte = piece[at];
      if (byte === QUOTE) {
        const end = endOfString(piece, at + 1);
        if (end === -1) {
          [this.#values, this.#depth] = [values, depth];
          this.#inString = true;
          this.#isEscaped = false;
          return this.#goesOn(piece, at + 1);
        }
        at = end;
      } else if (byte === COMMA) values += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        values += 1;
        depth += 1;
        if (depth > MAX_DEPTH) return true;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    }
    [this.#values, this.#depth] = [values, depth];
    return values > this.#most;
  }

  /** After a piece that ends inside a string, which goes on from there in it. */
  #goesOn(piece: Uint8Array, from = this.#isEscaped ? 1 : 0): boolean {
    if (piece.length > from) this.#isEscaped = isEscaped(piece, piece.length, from);
    else if (piece.length > 0) this.#isEscaped = false;
    return this.#values > this.#most;
  }
}

/** Where the quote is that ends a string that goes on at `from`; -1: not in this text. */
function endOfString(text: Uint8Array, from: number): number {
  // The search is not a loop of ours: most of a text is in strings.
  let end = text.indexOf(QUOTE, from);
  while (end !== -1 && isEscaped(text, end, from)) end = text.indexOf(QUOTE, end + 1);
  return end;
}

/** Whether the byte at `at` of a string that goes on at `from` comes after a backslash that is none itself. */
function isEscaped(text: Uint8Array, at: number, from: number): boolean {
  let first = at;
  while (first > from && text[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
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
