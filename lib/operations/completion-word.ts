/** What is being typed at the end of a line of shell: a command or a path, and the folder to look in. Pure. */

/** What `~` stands for in a sandbox's shell. */
const HOME = '/workspace';
/** Between these and the word, a command begins. `>&` and `>|` are redirections. */
const BEFORE_COMMAND = /(?:[;(`\n]|(?<![<>])[|&])$|(?:^|\s)(?:then|do|else|time|!)$/;

export interface CompletedWord {
  /** The beginning of the name, without the folders before it. */
  begin: string;
  /** A command may stand here. */
  isCommand: boolean;
  /** The folder to look in, by its parts: the volume first; none for the root. */
  path: string[];
  /** The quote that the word stands in, and that is still open. */
  quote: '"' | "'" | null;
}

/** The word before the cursor. `cwd`: where relative names are looked up. */
export function wordBefore(line: string, cwd: string): CompletedWord {
  const { from, text, quote } = wordAtEnd(line);
  const typed = line.startsWith('~/', from) ? `${HOME}${text.slice(1)}` : text;
  const slash = typed.lastIndexOf('/');
  const folder = typed.startsWith('/') ? typed.slice(0, slash + 1) : `${cwd}/${typed.slice(0, slash + 1)}`;
  const path: string[] = [];
  for (const part of folder.split('/')) {
    if (part === '..') path.pop();
    else if (part !== '' && part !== '.') path.push(part);
  }
  let end = from;
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end -= 1;
  const before = line.slice(0, end);
  const isCommand = slash < 0 && (before === '' || BEFORE_COMMAND.test(before));
  return { begin: typed.slice(slash + 1), isCommand, path, quote };
}

/** Where the last word begins, and its text without quotes and backslashes. One pass. */
function wordAtEnd(line: string): { from: number; text: string; quote: CompletedWord['quote'] } {
  let from = 0;
  let text = '';
  let quote: CompletedWord['quote'] = null;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    const next = line[at + 1] ?? '';
    if (character === '\\' && (quote === null || (quote === '"' && /["\\$`]/.test(next)))) {
      at += 1;
      text += next;
    } else if (character === quote) {
      quote = null;
    } else if (quote === null && (character === '"' || character === "'")) {
      quote = character;
    } else if (quote === null && /[\s`;|&<>()=]/.test(character)) {
      from = at + 1;
      text = '';
    } else {
      text += character;
    }
  }
  return { from, text, quote };
}
