/** Text as HTML: nothing of it becomes a tag, an attribute or an invisible character. Pure. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML. Control characters become visible symbols, so that none hides or moves other text. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (char) =>
      char === '\r' ? '' : char === '\u007f' ? '\u2421' : String.fromCodePoint(0x2400 + char.charCodeAt(0)),
    );
}
