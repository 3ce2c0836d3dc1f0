/**
 * Filters a sandbox's output: it may write text, break lines and set colours. Every other control sequence is dropped,
 * so that output cannot move the cursor over earlier text, rename the page, or make the emulator send input. Pure,
 * except for its state between two pieces.
 */

const ESCAPE = '\x1b';
const BELL = '\x07';
const STRING_END = `${ESCAPE}\\`;
/** A longer sequence is treated as text. */
const LONGEST = 4096;
/** The longest style that a stream keeps between two pieces. */
const LONGEST_STYLE = 200;

const CONTROL_SEQUENCE = /^\[[0-?]*[ -/]*[@-~]/;
const UNFINISHED_SEQUENCE = /^\[[0-?]*[ -/]*$/;
const OTHER_SEQUENCE = /^[ -/]*[0-~]/;
const STRING_SEQUENCE = /^[\]PX^_]/;
/** Control and direction characters, which are never shown. */
const UNPRINTABLE = /[\u202a-\u202e\u2066-\u2069]|(?![\n\r\t])\p{Cc}/gu;

/** The six levels of the 256-colour cube. */
const LEVELS = [0, 95, 135, 175, 215, 255];

function nearestLevel(value: number): number {
  return LEVELS.reduce(
    (best, level, at) => (Math.abs(level - value) < Math.abs((LEVELS[best] ?? 0) - value) ? at : best),
    0,
  );
}

const colourOf = (red: number, green: number, blue: number) =>
  16 + 36 * nearestLevel(red) + 6 * nearestLevel(green) + nearestLevel(blue);

const byte = (value: number | undefined) => (value !== undefined && value >= 0 && value <= 255 ? value : 0);

/**
 * Allowed styles: bold, italic, underlined, inverse, struck through, their ends, and colours by number. Not allowed:
 * dim, blinking, invisible.
 */
function isAllowed(code: number): boolean {
  return (
    [1, 3, 4, 7, 9, 22, 23, 24, 27, 29, 39, 49].includes(code) ||
    (code >= 30 && code <= 37) ||
    (code >= 40 && code <= 47) ||
    (code >= 90 && code <= 97) ||
    (code >= 100 && code <= 107)
  );
}

/** The allowed codes of a style sequence; 0 is a reset. */
function stylesOf(parameters: string): string[] {
  const codes = parameters.split(/[;:]+/).map(Number);
  const styles: string[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) styles.push('0');
    else if (code === 38 || code === 48 || code === 58) {
      const indexed = codes[at + 1] === 5;
      const [red, green, blue] = codes.slice(at + 2, at + 5);
      const colour = indexed ? byte(red) : colourOf(byte(red), byte(green), byte(blue));
      if (code !== 58) styles.push(`${code};5;${colour}`);
      at += indexed ? 2 : 4;
    } else if (isAllowed(code)) styles.push(String(code));
  }
  return styles;
}

/** The screen's cursor, shared by the streams that write to it. */
export interface ScreenPosition {
  /** The cursor is at the beginning of a line. */
  fresh: boolean;
  /** The stream that wrote last. */
  by: object | null;
}

export class StreamText {
  readonly #sign: string;
  readonly #base: string;
  readonly #place: ScreenPosition;
  #style = '';
  #held = '';

  /** `sign`: put before each line. `base` (`31`): its colour. Both may be empty. */
  constructor(place: ScreenPosition, { sign = '', base = '' }: { sign?: string; base?: string } = {}) {
    this.#place = place;
    this.#sign = sign;
    this.#base = base;
  }

  /** The filtered text of a piece of output. An incomplete sequence waits for the next piece. */
  take(piece: string): string {
    let rest = this.#held + piece;
    this.#held = '';
    const begin = this.#begin();
    let out = '';
    while (rest !== '') {
      const next = rest.indexOf(ESCAPE);
      if (next !== 0) {
        out += this.#text(next < 0 ? rest : rest.slice(0, next));
        rest = next < 0 ? '' : rest.slice(next);
        continue;
      }
      const length = this.#sequence(rest.slice(1, LONGEST), (codes) => {
        out += this.#styled(codes);
      });
      if (length === null) {
        this.#held = rest.length < LONGEST ? rest : '';
        break;
      }
      rest = rest.slice(1 + length);
    }
    return out === '' ? '' : `${begin}${out}${ESCAPE}[0m`;
  }

  /** The length of the sequence after its escape character; null when it is incomplete. */
  #sequence(after: string, style: (codes: string[]) => void): number | null {
    const control = CONTROL_SEQUENCE.exec(after)?.[0];
    if (control !== undefined) {
      if (/^\[[0-9;:]*m$/.test(control)) style(stylesOf(control.slice(1, -1)));
      return control.length;
    }
    if (after === '' || UNFINISHED_SEQUENCE.test(after)) return null;
    if (STRING_SEQUENCE.test(after)) {
      const ends = [after.indexOf(BELL), after.indexOf(STRING_END)].filter((end) => end >= 0);
      return ends.length === 0 ? null : Math.min(...ends) + (after[Math.min(...ends)] === BELL ? 1 : 2);
    }
    return OTHER_SEQUENCE.exec(after)?.[0].length ?? 0;
  }

  #begin(): string {
    const codes = [this.#base, this.#style].filter((code) => code !== '').join(';');
    return codes === '' ? '' : `${ESCAPE}[${codes}m`;
  }

  #styled(codes: string[]): string {
    for (const code of codes) {
      this.#style = code === '0' ? '' : [this.#style, code].filter((one) => one !== '').join(';');
      if (this.#style.length > LONGEST_STYLE) this.#style = '';
    }
    return `${ESCAPE}[0m${this.#begin()}`;
  }

  #text(raw: string): string {
    const text = raw.replace(UNPRINTABLE, '');
    if (text === '') return '';
    const goesOn = !this.#place.fresh && this.#place.by === this;
    // Two streams never share a line: they could not be told apart.
    const first = this.#place.fresh || goesOn ? '' : '\n';
    this.#place.fresh = text.endsWith('\n');
    this.#place.by = this;
    if (this.#sign === '') return first + text;
    const lines = text.split(/(?<=\n|\r(?!\n))/);
    return first + lines.map((line, at) => (at === 0 && goesOn ? line : this.#sign + line)).join('');
  }
}
