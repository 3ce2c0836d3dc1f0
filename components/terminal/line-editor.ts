/**
 * The line editor: a pure step from a key to the next state and, for some keys, a command for the terminal. It knows
 * the history and the last cut text, and nothing of screens, sandboxes or browsers.
 */
import { clustersOf } from './cells.ts';

type Motion = 'left' | 'right' | 'word-left' | 'word-right' | 'start' | 'end' | 'up' | 'down';

export type EditorKey =
  | { name: Motion }
  | { name: 'delete-left' | 'delete-right' | 'cut-word-left' | 'cut-word-right' | 'cut-to-start' | 'cut-to-end' }
  | {
      name:
        | 'paste-cut'
        | 'newline'
        | 'enter'
        | 'interrupt'
        | 'clear'
        | 'end-of-input'
        | 'complete'
        | 'search'
        | 'cancel';
    }
  | { name: 'text'; text: string };

/** What a key asks of the terminal besides a changed line. */
export type EditorCommand = { run: string } | 'interrupt' | 'clear' | 'leave' | 'complete' | null;

export interface Editor {
  text: string;
  /** The cursor: an index into `text`, never inside a cluster. */
  at: number;
  /** Earlier lines, oldest first. */
  history: readonly string[];
  /** How many lines back in the history the shown line is; 0: the new line. */
  back: number;
  /** The new line, kept while an earlier one is shown. */
  draft: string;
  /** The last cut text. */
  cut: string;
  /** The text that the history is searched for, or null. */
  search: string | null;
}

const KEPT = 200;
/** Longer lines do not enter the history: they are data, not commands. */
const KEPT_LENGTH = 4000;
const INDENT = '    ';

/** An empty line with a history. */
export function emptyEditor(history: readonly string[]): Editor {
  return { text: '', at: 0, history, back: 0, draft: '', cut: '', search: null };
}

/**
 * The history with one more line. As in shells, it skips blank lines, repetitions of the last line, and lines that
 * begin with a space.
 */
export function addToHistory(history: readonly string[], text: string): readonly string[] {
  if (text.trim() === '' || text.startsWith(' ') || text.length > KEPT_LENGTH || history.at(-1) === text)
    return history;
  return [...history, text].slice(-KEPT);
}

const inserted = (editor: Editor, text: string): Editor => ({
  ...editor,
  text: editor.text.slice(0, editor.at) + text + editor.text.slice(editor.at),
  at: editor.at + text.length,
});

/** Removes the text between two positions. `keep`: as the cut text, for pasting. */
function without(editor: Editor, from: number, to: number, keep: boolean): Editor {
  if (from === to) return editor;
  return {
    ...editor,
    text: editor.text.slice(0, from) + editor.text.slice(to),
    at: from,
    ...(keep ? { cut: editor.text.slice(from, to) } : {}),
  };
}

function clusterLeft({ text, at }: Editor): number {
  return at - (clustersOf(text.slice(0, at)).at(-1)?.text.length ?? 0);
}

function clusterRight({ text, at }: Editor): number {
  return at + (clustersOf(text.slice(at))[0]?.text.length ?? 0);
}

const WORD = /[\p{L}\p{N}\p{M}_]/u;

function wordLeft({ text, at }: Editor): number {
  let place = at;
  while (place > 0 && !WORD.test(text[place - 1] ?? '')) place -= 1;
  while (place > 0 && WORD.test(text[place - 1] ?? '')) place -= 1;
  return place;
}

function wordRight({ text, at }: Editor): number {
  let place = at;
  while (place < text.length && !WORD.test(text[place] ?? '')) place += 1;
  while (place < text.length && WORD.test(text[place] ?? '')) place += 1;
  return place;
}

/** The start of the word before the cursor, where words are separated by blanks. */
function blankLeft({ text, at }: Editor): number {
  return at - (/\S*\s*$/.exec(text.slice(0, at))?.[0].length ?? 0);
}

const startOf = ({ text, at }: Editor) => text.lastIndexOf('\n', at - 1) + 1;

function endOf({ text, at }: Editor): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** Shows the line `back` steps back in the history. */
function recalled(editor: Editor, back: number): Editor {
  const draft = editor.back === 0 ? editor.text : editor.draft;
  const text = back === 0 ? draft : (editor.history.at(-back) ?? '');
  return { ...editor, text, at: text.length, back, draft };
}

/** Up and down move between the lines of a multi-line text, then through the history. */
function vertical(editor: Editor, step: -1 | 1): Editor {
  const start = startOf(editor);
  const column = editor.at - start;
  if (step < 0 && start > 0) {
    const above = { ...editor, at: start - 1 };
    return { ...editor, at: Math.min(startOf(above) + column, start - 1) };
  }
  const end = endOf(editor);
  if (step > 0 && end < editor.text.length) {
    return { ...editor, at: Math.min(end + 1 + column, endOf({ ...editor, at: end + 1 })) };
  }
  const back = editor.back - step;
  return back < 0 || back > editor.history.length ? editor : recalled(editor, back);
}

function moved(editor: Editor, motion: Motion): Editor {
  switch (motion) {
    case 'left':
      return { ...editor, at: clusterLeft(editor) };
    case 'right':
      return { ...editor, at: clusterRight(editor) };
    case 'word-left':
      return { ...editor, at: wordLeft(editor) };
    case 'word-right':
      return { ...editor, at: wordRight(editor) };
    case 'start':
      return { ...editor, at: startOf(editor) };
    case 'end':
      return { ...editor, at: endOf(editor) };
    case 'up':
      return vertical(editor, -1);
    case 'down':
      return vertical(editor, 1);
  }
}

/** Shows the newest line with `search` that is more than `back` steps back. */
function found(editor: Editor, search: string, back: number): Editor {
  for (let steps = back; steps <= editor.history.length; steps += 1) {
    const place = editor.history.at(-steps)?.indexOf(search) ?? -1;
    if (steps > 0 && place >= 0) return { ...recalled(editor, steps), at: place, search };
  }
  return { ...editor, search };
}

/** A key during a history search; null when the key ends the search and then has its usual effect. */
function searched(editor: Editor, search: string, key: EditorKey): Editor | null {
  switch (key.name) {
    case 'text':
      return found(editor, search + plain(key.text), Math.max(1, editor.back));
    case 'search':
      return found(editor, search, editor.back + 1);
    case 'delete-left':
      return found(editor, search.slice(0, -1), 1);
    case 'cancel':
    case 'interrupt':
      return { ...recalled(editor, 0), search: null };
    default:
      return null;
  }
}

/** Removes characters that move cursors or change the text direction. */
function plain(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', INDENT)
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => (character === '\n' ? character : ''));
}

/** The state after `key`, and the command that the key asks for. */
export function press(editor: Editor, key: EditorKey): [Editor, EditorCommand] {
  if (editor.search !== null) {
    const next = searched(editor, editor.search, key);
    return next === null ? press({ ...editor, search: null }, key) : [next, null];
  }
  switch (key.name) {
    case 'text':
      return [inserted(editor, plain(key.text)), null];
    case 'newline':
      return [inserted(editor, '\n'), null];
    case 'delete-left':
      return [without(editor, clusterLeft(editor), editor.at, false), null];
    case 'delete-right':
      return [without(editor, editor.at, clusterRight(editor), false), null];
    case 'cut-word-left':
      return [without(editor, blankLeft(editor), editor.at, true), null];
    case 'cut-word-right':
      return [without(editor, editor.at, wordRight(editor), true), null];
    case 'cut-to-start':
      return [without(editor, startOf(editor), editor.at, true), null];
    case 'cut-to-end':
      return [without(editor, editor.at, endOf(editor), true), null];
    case 'paste-cut':
      return [inserted(editor, editor.cut), null];
    case 'search':
      return [{ ...editor, search: '' }, null];
    case 'complete':
      return [editor, editor.text === '' ? 'leave' : 'complete'];
    case 'clear':
      return [editor, 'clear'];
    case 'cancel':
      return [editor, 'leave'];
    case 'end-of-input':
      return editor.text === '' ? [editor, 'leave'] : press(editor, { name: 'delete-right' });
    case 'interrupt':
      return [{ ...emptyEditor(editor.history), cut: editor.cut }, 'interrupt'];
    case 'enter':
      return [{ ...emptyEditor(addToHistory(editor.history, editor.text)), cut: editor.cut }, { run: editor.text }];
    default:
      return [moved(editor, key.name), null];
  }
}
