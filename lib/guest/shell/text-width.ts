/** How wide a text is in a terminal. Pure. */

/** Columns of a terminal that a text takes: wide characters take two. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text)
    width += /\p{Mn}|\p{Cf}/u.test(char)
      ? 0
      : /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
            char,
          )
        ? 2
        : 1;
  return width;
}
