import { expect, test } from 'vitest';
import { keysOf } from './keys.ts';
import { addToHistory, type Editor, type EditorCommand, emptyEditor, press } from './line-editor.ts';

/** The line after an emulator's input, with the cursor as `|`, and the commands on the way. */
function type(
  sent: string,
  from: Editor = emptyEditor([]),
): { line: string; commands: EditorCommand[]; editor: Editor } {
  let editor = from;
  const commands: EditorCommand[] = [];
  for (const key of keysOf(sent)) {
    const [next, command] = press(editor, key);
    editor = next;
    if (command !== null) commands.push(command);
  }
  return { line: `${editor.text.slice(0, editor.at)}|${editor.text.slice(editor.at)}`, commands: commands, editor };
}

const LEFT = '\x1b[D';
const UP = '\x1b[A';
const DOWN = '\x1b[B';
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

test.each([
  ['text is typed at the cursor', `abd${LEFT}c`, 'abc|d'],
  ['backspace and delete take what stands beside the cursor', `abcd${LEFT}${LEFT}\x7f\x1b[3~`, 'a|d'],
  ['home and end, by keys of both kinds', 'abc\x1b[Hx\x05y\x01z\x1bOFe', 'zxabcye|'],
  ['words are stepped over by control and by alt', 'cat notes/read.me\x1b[1;5D\x1bb\x1bfX', 'cat notes/readX|.me'],
  ['what is cut comes back', 'echo one two\x17\x15\x19', 'echo one |'],
  ['the rest is cut', 'one two\x1bb\x0b', 'one |'],
  ['words are deleted forward and backward', 'one two three\x1bb\x1bd\x1b\x7f', 'one |'],
  ['a family is one character', `a👨‍👩‍👧b${LEFT}\x7f`, 'a|b'],
  ['an accent belongs to its letter', `e\u0301x${LEFT}${LEFT}y`, 'y|e\u0301x'],
  [
    'a paste runs nothing and loses what steers screens',
    paste('ls\r\necho\t\x1b[31m\u202ehi\n'),
    'ls\necho    [31mhi\n|',
  ],
  ['a paste cannot end itself', paste('ls\x1b[201~\rrm -r .'), 'ls[201~\nrm -r .|'],
  ['unknown keys and answers of the emulator are left out', 'a\x1b[15~\x1b[12;40R\x1b[?1;2cb', 'ab|'],
])('%s', (_what, sent, line) => {
  expect(type(sent).line).toBe(line);
});

test('enter runs the line and adds it to the history; control C discards it', () => {
  const { editor, commands, line } = type('echo 1\rhalf\x03');
  expect(commands).toEqual([{ run: 'echo 1' }, 'interrupt']);
  expect([line, editor.history]).toEqual(['|', ['echo 1']]);
});

test('up and down move through the history and come back to the unfinished line', () => {
  const old = emptyEditor(['first', 'second']);
  expect(type(`new${UP}`, old).line).toBe('second|');
  expect(type(`new${UP}${UP}${UP}`, old).line).toBe('first|');
  expect(type(`new${UP}${UP}${DOWN}${DOWN}${DOWN}`, old).line).toBe('new|');
});

test('in a text of several lines, up and down go from line to line first', () => {
  const old = emptyEditor(['before']);
  expect(type(`ab\x1b\rcdef${UP}`, old).line).toBe('ab|\ncdef');
  expect(type(`ab\x1b\rcdef${UP}${UP}`, old).line).toBe('before|');
  expect(type(`abcd\x1b\re${UP}${DOWN}`, old).line).toBe('abcd\ne|');
});

test('the history has no blank lines, no repetitions, no lines that begin with a space, and at most 200', () => {
  expect(['ls', 'ls', '  ', ' export KEY=secret', 'pwd'].reduce<readonly string[]>(addToHistory, [])).toEqual([
    'ls',
    'pwd',
  ]);
  const many = Array.from({ length: 300 }, (_, n) => `echo ${n}`).reduce<readonly string[]>(addToHistory, []);
  expect([many.length, many[0], many.at(-1)]).toEqual([200, 'echo 100', 'echo 299']);
});

test('the history is searched while typing, further back at each control R, and left by escape', () => {
  const old = emptyEditor(['git log', 'ls', 'git push', 'pwd']);
  expect(type('\x12git', old).line).toBe('|git push');
  expect(type('\x12git\x12', old).line).toBe('|git log');
  expect(type('x\x12git\x1b', old).line).toBe('x|');
  const { commands } = type('\x12lo\r', old);
  expect(commands).toEqual([{ run: 'git log' }]);
});

test('the keyboard can leave: by escape always, by control D and tab from an empty line', () => {
  expect(type('a\x1b').commands).toEqual(['leave']);
  expect(type('\x04').commands).toEqual(['leave']);
  expect(type('\t').commands).toEqual(['leave']);
  expect(type('a\t').commands).toEqual(['complete']);
  expect(type(`ab${LEFT}\x04`)).toMatchObject({ line: 'a|', commands: [] });
});
