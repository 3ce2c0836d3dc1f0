/** Parses an emulator's input into keys of the line editor. Pure. */
import type { EditorKey } from './line-editor.ts';

const PASTE_BEGIN = '\x1b[200~';
const PASTE_END = '\x1b[201~';

const KEYS: Readonly<Record<string, Exclude<EditorKey['name'], 'text'>>> = {
  '\x01': 'start',
  '\x02': 'left',
  '\x03': 'interrupt',
  '\x04': 'end-of-input',
  '\x05': 'end',
  '\x06': 'right',
  '\b': 'cut-word-left',
  '\t': 'complete',
  '\v': 'cut-to-end',
  '\f': 'clear',
  '\r': 'enter',
  '\x0e': 'down',
  '\x10': 'up',
  '\x12': 'search',
  '\x15': 'cut-to-start',
  '\x17': 'cut-word-left',
  '\x19': 'paste-cut',
  '\x7f': 'delete-left',
  '\x1b': 'cancel',
  '\x1b\r': 'newline',
  '\x1b\x7f': 'cut-word-left',
  '\x1bb': 'word-left',
  '\x1bf': 'word-right',
  '\x1bd': 'cut-word-right',
  '\x1b[A': 'up',
  '\x1b[B': 'down',
  '\x1b[C': 'right',
  '\x1b[D': 'left',
  '\x1b[H': 'start',
  '\x1b[F': 'end',
  '\x1b[3~': 'delete-right',
  '\x1b[3;5~': 'cut-word-right',
  '\x1b[1;5C': 'word-right',
  '\x1b[1;5D': 'word-left',
  '\x1b[1;3C': 'word-right',
  '\x1b[1;3D': 'word-left',
};

const ESCAPE = '\x1b';
/** An escape sequence that is one key. */
const AFTER_ESCAPE = /^(?:\[[0-?]*[A-Za-z~]|O[A-Z]|[^[O])/u;
const TEXT = /^\P{Cc}+/u;

/** The keys in one piece of input. Unknown sequences are ignored. A paste is one text, whatever it contains. */
export function keysOf(sent: string): EditorKey[] {
  const keys: EditorKey[] = [];
  let rest = sent;
  while (rest !== '') {
    if (rest.startsWith(PASTE_BEGIN)) {
      // The paste ends where the input ends. An end marker before that is part of the pasted text, and must not run
      // anything.
      const end = rest.lastIndexOf(PASTE_END);
      keys.push({ name: 'text', text: rest.slice(PASTE_BEGIN.length, end < 0 ? undefined : end) });
      rest = end < 0 ? '' : rest.slice(end + PASTE_END.length);
      continue;
    }
    const text = TEXT.exec(rest)?.[0];
    if (text !== undefined) {
      keys.push({ name: 'text', text });
      rest = rest.slice(text.length);
      continue;
    }
    const one = rest.startsWith(ESCAPE) ? ESCAPE + (AFTER_ESCAPE.exec(rest.slice(1))?.[0] ?? '') : rest.slice(0, 1);
    const name = KEYS[one.startsWith(`${ESCAPE}O`) ? `${ESCAPE}[${one.slice(2)}` : one];
    if (name !== undefined) keys.push({ name });
    rest = rest.slice(one.length);
  }
  return keys;
}
