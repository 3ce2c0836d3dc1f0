/** Whether a script of shell can run as it stands, or Enter should begin another line of it. Pure; one pass. */

/** False inside quotes, in a here-document without its end, and after a backslash, a pipe, `&&` or `||` at the end. */
export function isCompleteScript(script: string): boolean {
  const waiting: { end: string; isIndented: boolean }[] = [];
  let quote: string | null = null;
  let at = 0;
  while (at < script.length) {
    const character = script[at] ?? '';
    if (quote !== null) {
      if (character === '\\' && quote === '"') at += 1;
      else if (character === quote) quote = null;
    } else if (character === '\\') {
      if (at >= script.length - 1) return false;
      at += 1;
      if (script[at] === '\n' && at === script.length - 1) return false;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '#' && /^$|[\s;&|(]/.test(script[at - 1] ?? '')) {
      const end = script.indexOf('\n', at);
      at = (end < 0 ? script.length : end) - 1;
    } else if (character === '<' && script.startsWith('<<<', at)) at += 2;
    else if (character === '<' && script[at + 1] === '<') {
      const word = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s;&|<>()'"]+))/.exec(script.slice(at, at + 200));
      if (word !== null) {
        waiting.push({ end: word[2] ?? word[3] ?? word[4] ?? '', isIndented: word[1] === '-' });
        at += word[0].length - 1;
      }
    } else if (character === '\n' && waiting.length > 0) {
      const next = afterHereDocuments(script, at + 1, waiting.splice(0));
      if (next === null) return false;
      at = next - 1;
    }
    at += 1;
  }
  return quote === null && waiting.length === 0 && !/(?:\|\|?|&&)\s*$/.test(script);
}

/** Where the script goes on after the bodies of here-documents; null when one has no end yet. */
function afterHereDocuments(
  script: string,
  from: number,
  documents: readonly { end: string; isIndented: boolean }[],
): number | null {
  let at = from;
  for (const { end, isIndented } of documents) {
    for (;;) {
      if (at > script.length) return null;
      const stop = script.indexOf('\n', at);
      const line = script.slice(at, stop < 0 ? undefined : stop);
      at = stop < 0 ? script.length + 1 : stop + 1;
      if ((isIndented ? line.replace(/^\t+/, '') : line) === end) break;
    }
  }
  return Math.min(at, script.length);
}
