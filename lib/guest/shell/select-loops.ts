/**
 * `select`: a menu of words on stderr, and a loop over what is chosen of it. The parser makes it a `while` loop whose
 * condition prints the menu and reads a line. Called by just-bash's interpreter as it is patched
 * (bash-language-patches.ts).
 */
import type { CommandNode, ScriptNode } from 'just-bash';
import { textWidth } from './text-width.ts';

type ForNode = Extract<CommandNode, { type: 'For' }>;
type WhileNode = Extract<CommandNode, { type: 'While' }>;

interface ShellResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** The loop that runs, innermost last. */
interface Menu {
  variable: string;
  words: readonly string[];
  /** Its words were printed: they are not before the next line, unless the last one was empty. */
  isShown: boolean;
  /** There is nothing more to read. */
  isOver: boolean;
}

interface MenuState {
  menus?: Menu[];
  env: Map<string, string>;
}

/** The command of the loop's condition: asks until a line is not empty. */
export const ASK = '__winterdock_select';
const CHOSEN = '--chosen';
const TAB = 8;
const USUAL_COLUMNS = 80;
const BEHIND_NUMBER = ') ';
const GAP = 2;

/** How a loop was written. A symbol: copies of a loop have it, and who walks through its parts does not meet it. */
const WRITTEN = Symbol('select');
type SelectLoop = WhileNode & { [WRITTEN]?: ForNode };

/** The loop as it runs. */
export function selectLoop(written: ForNode, parse: (source: string) => ScriptNode): SelectLoop {
  const condition = parse(`until ${ASK}; do ${ASK} ${CHOSEN}; done; ${ASK} ${CHOSEN}`).statements;
  return { type: 'While', condition, body: written.body, redirections: written.redirections, [WRITTEN]: written };
}

/** How a `select` was written; undefined for any other loop. */
export function writtenAs(loop: SelectLoop): ForNode | undefined {
  return loop[WRITTEN];
}

/** Runs such a loop, with the words that it is written with; none are the arguments of the script. */
export async function withMenu(
  state: MenuState,
  { variable }: ForNode,
  expand: () => Promise<string[]>,
  run: () => Promise<ShellResult>,
): Promise<ShellResult> {
  if (!/^[a-zA-Z_]\w*$/.test(variable))
    return { stdout: '', stderr: `bash: \`${variable}': not a valid identifier\n`, exitCode: 1 };
  const menu: Menu = { variable, words: await expand(), isShown: false, isOver: false };
  if (menu.words.length === 0) return { stdout: '', stderr: '', exitCode: 0 };
  state.menus ??= [];
  state.menus.push(menu);
  try {
    const result = await run();
    return menu.isOver ? { ...result, exitCode: 1 } : result;
  } finally {
    state.menus.pop();
  }
}

/** The command: 1 after an empty line; with `--chosen`, 1 at the end of the input. `read` reads a line into REPLY. */
export async function ask(
  state: MenuState,
  [option]: readonly string[],
  read: () => Promise<ShellResult>,
): Promise<ShellResult> {
  const menu = state.menus?.at(-1);
  if (menu === undefined) return { stdout: '', stderr: `bash: ${ASK}: command not found\n`, exitCode: 127 };
  if (option === CHOSEN) return { stdout: '', stderr: '', exitCode: menu.isOver ? 1 : 0 };
  const { env } = state;
  const words = menu.isShown && env.get('REPLY') !== '' ? '' : listed(menu.words, columnsOf(env));
  menu.isShown = true;
  const said = words + (env.get('PS3') ?? '#? ');
  const result = await read();
  const stderr = said + result.stderr;
  if (result.exitCode !== 0) {
    menu.isOver = true;
    return { ...result, stdout: '\n', stderr, exitCode: 0 };
  }
  const reply = env.get('REPLY') ?? '';
  if (reply === '') return { ...result, stderr, exitCode: 1 };
  const number = /^\s*\+?\d+\s*$/.test(reply) ? Number(reply) : 0;
  env.set(menu.variable, menu.words[number - 1] ?? '');
  return { ...result, stderr };
}

function columnsOf(env: ReadonlyMap<string, string>): number {
  const columns = Number(env.get('COLUMNS'));
  return Number.isInteger(columns) && columns > 0 ? columns : USUAL_COLUMNS;
}

/** The menu in columns, filled downwards, as bash lays it out. */
function listed(words: readonly string[], columns: number): string {
  const digits = String(words.length).length;
  const width = Math.max(...words.map(textWidth)) + digits + BEHIND_NUMBER.length + GAP;
  const across = Math.max(1, Math.floor(columns / width));
  let rows = Math.ceil(words.length / across);
  if (rows === 1) rows = Math.ceil(words.length / rows);
  let text = '';
  for (let row = 0; row < rows; row += 1) {
    let line = '';
    for (let at = row, from = 0; at < words.length; at += rows, from += width) {
      const item = `${String(at + 1).padStart(from === 0 ? String(rows).length : digits)}${BEHIND_NUMBER}${words[at]}`;
      line += item;
      if (at + rows < words.length) line += blank(from + textWidth(item), from + width);
    }
    text += `${line}\n`;
  }
  return text;
}

/** Tabs and blanks from one column to another. */
function blank(from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; ) {
    const isTab = Math.floor(to / TAB) > Math.floor(at / TAB);
    text += isTab ? '\t' : ' ';
    at += isTab ? TAB - (at % TAB) : 1;
  }
  return text;
}
