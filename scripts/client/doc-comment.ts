/** Comments of printed code, wrapped at the width of the house. */

const WIDTH = 120;

/** A doc comment of `text`, on one line or on several, each after `indent` spaces. Ends with a newline. */
export function docComment(text: string, indent = 0): string {
  const pad = ' '.repeat(indent);
  const safe = text.replaceAll('*/', '* /');
  const line = `${pad}/** ${safe} */`;
  if (line.length <= WIDTH) return `${line}\n`;
  const lines: string[] = [];
  let current = `${pad} *`;
  for (const word of safe.split(' ')) {
    if (current.length + 1 + word.length > WIDTH) {
      lines.push(current);
      current = `${pad} *`;
    }
    current += ` ${word}`;
  }
  return [`${pad}/**`, ...lines, current, `${pad} */`, ''].join('\n');
}
