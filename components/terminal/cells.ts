/**
 * How many cells a character takes, and which characters share a cell. The one table for the emulator, which draws, and
 * for the line editor, which computes the cursor. Pure.
 */

/** The emulator's state between two code points, in its packed form: kind, width, whether it joined. */
type Properties = number;

const PLAIN = 0;
/** A pictograph: a variation selector makes it wide, a skin tone joins it. */
const PICTOGRAPH = 1;
/** Ends in a zero-width joiner: a pictograph that follows is part of it. */
const JOINER = 2;
/** The first letter of a flag. */
const HALF_FLAG = 3;

const ZERO_WIDTH_JOINER = 0x200d;
const EMOJI_SELECTOR = 0xfe0f;
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];

const isMark = (text: string) => /^[\p{Mn}\p{Me}\p{Cf}]$/u.test(text);
const isSkinTone = (code: number) => code >= 0x1f3fb && code <= 0x1f3ff;
const isFlagLetter = (code: number) => code >= 0x1f1e6 && code <= 0x1f1ff;

/** Cells of a code point that stands alone: 0, 1 or 2. */
function widthOf(code: number): 0 | 1 | 2 {
  if (code < 32 || (code >= 0x7f && code < 0xa0)) return 0;
  if (code < 0x300) return 1;
  const text = String.fromCodePoint(code);
  if (isMark(text)) return 0;
  if (/^\p{Emoji_Presentation}$/u.test(text)) return 2;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

const packed = (kind: number, width: number, joins: boolean): Properties =>
  (kind << 3) | (width << 1) | (joins ? 1 : 0);

/** The properties of `code` after `before`; 0 at the beginning. */
function propertiesOf(code: number, before: Properties): Properties {
  const kind = before >> 3;
  const widthBefore = (before >> 1) & 3;
  const width = widthOf(code);
  if (widthBefore > 0) {
    if (code === ZERO_WIDTH_JOINER) return packed(JOINER, widthBefore, true);
    if (code === EMOJI_SELECTOR) return packed(PICTOGRAPH, kind === PICTOGRAPH ? 2 : widthBefore, true);
    if (isSkinTone(code) && kind === PICTOGRAPH) return packed(PICTOGRAPH, 2, true);
    if (isFlagLetter(code) && kind === HALF_FLAG) return packed(PLAIN, 2, true);
    if (kind === JOINER && isPictograph(code)) return packed(PICTOGRAPH, Math.max(2, widthBefore), true);
    if (width === 0 && code >= 0x300) return packed(kind, widthBefore, true);
  }
  if (isFlagLetter(code)) return packed(HALF_FLAG, 2, false);
  return packed(isPictograph(code) ? PICTOGRAPH : PLAIN, width, false);
}

function isPictograph(code: number): boolean {
  return code > 0xff && /^\p{Extended_Pictographic}$/u.test(String.fromCodePoint(code));
}

/** The table in the emulator's form. */
export const UNICODE = { version: 'winterdock', wcwidth: widthOf, charProperties: propertiesOf } as const;

export interface Cluster {
  text: string;
  /** Cells. */
  width: number;
}

/** Splits a text into clusters, each drawn and stepped over as one. A line break is a cluster of width 0. */
export function clustersOf(text: string): Cluster[] {
  const clusters: Cluster[] = [];
  let before: Properties = 0;
  for (const character of text) {
    const properties = propertiesOf(character.codePointAt(0) ?? 0, before);
    const last = clusters.at(-1);
    const width = (properties >> 1) & 3;
    if ((properties & 1) === 1 && last !== undefined) {
      last.text += character;
      last.width = width;
    } else {
      clusters.push({ text: character, width });
    }
    before = properties;
  }
  return clusters;
}
