/** The shortcuts of the console: the only table of them, for the listener, the help sheet and the tests. Pure. */
import { MAIN_NAV, TOOL_NAV } from '../ui/nav-items.ts';

/** What a shortcut does other than opening a page. */
export type ShortcutAction =
  | 'palette'
  | 'sheet'
  | 'find'
  | 'create'
  | 'next'
  | 'previous'
  | 'choose'
  | 'message'
  | 'calls'
  | 'terminal';

export interface Shortcut {
  /** Pressed one after the other. `Ctrl`, and `mod`, which is ⌘ on a Mac, are held together with the next key. */
  keys: readonly string[];
  says: string;
  does: ShortcutAction | { go: string } | 'native';
}

interface Group {
  name: string;
  shortcuts: readonly Shortcut[];
}

export const SHORTCUTS: readonly Group[] = [
  {
    name: 'Everywhere',
    shortcuts: [
      { keys: ['mod', 'k'], says: 'Find a sandbox or a page, and do something with it', does: 'palette' },
      { keys: ['Ctrl', '`'], says: 'Open a terminal over the page, or close it', does: 'terminal' },
      { keys: ['?'], says: 'Show this sheet', does: 'sheet' },
      { keys: ['/'], says: 'Go to the page’s search', does: 'find' },
      { keys: ['n'], says: 'Make a new sandbox', does: 'create' },
      { keys: ['c'], says: 'Show the call that a button makes', does: 'calls' },
      { keys: ['m'], says: 'Go to the newest message', does: 'message' },
      { keys: ['Escape'], says: 'Close what is open, or the newest message', does: 'native' },
    ],
  },
  {
    name: 'In a list',
    shortcuts: [
      { keys: ['j'], says: 'Next row', does: 'next' },
      { keys: ['k'], says: 'Row before', does: 'previous' },
      { keys: ['Enter'], says: 'Open the row', does: 'native' },
      { keys: ['x'], says: 'Choose the row, or leave it out', does: 'choose' },
    ],
  },
  {
    name: 'Places',
    shortcuts: [...MAIN_NAV, ...TOOL_NAV].flatMap(({ key, name, href }) =>
      key === undefined ? [] : [{ keys: ['g', key], says: name, does: { go: href } }],
    ),
  },
];

const ALL = SHORTCUTS.flatMap(({ shortcuts }) => shortcuts);

/** What a key press does after `before`, the first key of a pair: a shortcut, `waits` for the second key, or null. */
export function shortcutFor(before: string | null, key: string): Shortcut | 'waits' | null {
  const wanted = before === null ? [key] : [before, key];
  const hit = ALL.find(
    ({ keys, does }) =>
      does !== 'native' && keys.length === wanted.length && keys.every((each, at) => each === wanted[at]),
  );
  if (hit !== undefined) return hit;
  const begins = before === null && ALL.some(({ keys }) => keys.length > 1 && keys[0] === key);
  return begins ? 'waits' : null;
}

/** Whether a key opens or closes the terminal over the page, in a terminal too: Ctrl and the key below Escape. */
export function isDrawerKey(
  event: Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'altKey' | 'metaKey' | 'shiftKey'>,
) {
  const { key, code, ctrlKey, altKey, metaKey, shiftKey } = event;
  return ctrlKey && !altKey && !metaKey && !shiftKey && (key === '`' || code === 'Backquote');
}

/** The label of a key on a keyboard. */
export function keyInWords(key: string, mac: boolean): string {
  if (key === 'mod') return mac ? '⌘' : 'Ctrl';
  if (key === 'Escape') return 'Esc';
  return /^[a-z]$/.test(key) ? key.toUpperCase() : key;
}
