import { expect, test } from 'vitest';
import { codeLines } from './code-lines.ts';
import { chosenFiles, MAX_CHOSEN } from './dropped-files.ts';
import { bytesAddress, fileAddress, linkedPath } from './file-address.ts';
import {
  type Folder,
  folderOf,
  foldersAbove,
  mergeReread,
  parentFolder,
  pathSteps,
  treeStep,
  typeAhead,
  visibleLines,
} from './file-tree.ts';
import { type JsonNode, jsonTree } from './json-tree.ts';
import { editable, lineEnds, PART_BYTES, parseTable, partBefore, previewOf, startOfLine } from './preview-kind.ts';
import { queueInWords, toBegin, uploadQueue } from './upload-queue.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const part = (
  path: string,
  content: string | Uint8Array,
  more: { from?: number; size?: number; source?: boolean } = {},
) => {
  const all = typeof content === 'string' ? bytes(content) : content;
  return previewOf({ path, bytes: all, from: 0, size: all.length, source: false, ...more });
};

test('paths know their folder, its parents, and the folders to open for them', () => {
  expect(['/src/b.js', '/src/', '/b'].map(folderOf)).toEqual(['/src/', '/src/', '/']);
  expect(['/src/b.js', '/src/', '/'].map(parentFolder)).toEqual(['/src/', '/', '/']);
  expect(pathSteps('/src/deep/').map(({ path }) => path)).toEqual(['/src/', '/src/deep/']);
  expect(foldersAbove('/src/deep/c.js')).toEqual(['/', '/src/', '/src/deep/']);
  expect(foldersAbove('/')).toEqual(['/']);
});

const folder = (path: string, names: readonly string[], next: string | null = null, total = names.length): Folder => ({
  path,
  items: names.map((name) => ({
    name: name.replace('/', ''),
    kind: name.endsWith('/') ? 'dir' : 'file',
    size: 1,
    mtime: 1,
  })),
  next,
  total,
});
const FOLDERS = new Map([
  ['/', folder('/', ['docs/', 'src/', 'Zebra.md'])],
  ['/src/', folder('/src/', ['a.js', 'b.js'], '1b.js', 1200)],
]);

test('the tree shows open folders, and how many items of a large folder are not loaded', () => {
  const paths = (open: string[]) => visibleLines(FOLDERS, new Set(open)).map(({ path }) => path);
  expect(paths([])).toEqual(['/docs/', '/src/', '/Zebra.md']);
  expect(paths(['/src/', '/docs/'])).toEqual(['/docs/', '/src/', '/src/a.js', '/src/b.js', '/src/*', '/Zebra.md']);
  const more = visibleLines(FOLDERS, new Set(['/src/'])).find(({ kind }) => kind === 'more');
  expect(more).toMatchObject({ left: 1198, level: 2, within: '/src/' });
});

test('a reloaded folder keeps its loaded later pages', () => {
  const known = folder('/', ['a', 'b', 'c', 'd'], '1d', 9);
  expect(mergeReread(known, folder('/', ['a', 'n'], '1n', 9)).items.map(({ name }) => name)).toEqual([
    'a',
    'n',
    'c',
    'd',
  ]);
  expect(mergeReread(known, folder('/', ['a', 'n'], '1n', 9)).next).toBe('1d');
  expect(mergeReread(known, folder('/', ['a'])).items).toHaveLength(1);
});

test('keys move through the tree, open and close folders, and names are found by typing', () => {
  const open = new Set(['/src/']);
  const lines = visibleLines(FOLDERS, open);
  const step = (at: string, key: string) => treeStep(lines, at, key, open);
  expect(step('/src/', 'ArrowDown')).toEqual({ focus: '/src/a.js' });
  expect(step('/docs/', 'ArrowUp')).toBeNull();
  expect(step('/src/', 'ArrowRight')).toEqual({ focus: '/src/a.js' });
  expect(step('/docs/', 'ArrowRight')).toEqual({ open: '/docs/' });
  expect(step('/src/a.js', 'ArrowLeft')).toEqual({ focus: '/src/' });
  expect(step('/src/', 'ArrowLeft')).toEqual({ close: '/src/' });
  expect(step('/docs/', 'End')).toEqual({ focus: '/Zebra.md' });
  expect(step('/Zebra.md', 'Home')).toEqual({ focus: '/docs/' });
  expect(step('/src/', 'Enter')).toBeNull();
  expect(typeAhead(lines, '/docs/', 'z')).toBe('/Zebra.md');
  expect(typeAhead(lines, '/Zebra.md', 'ze')).toBe('/Zebra.md');
  expect(typeAhead(lines, '/docs/', 'x')).toBeNull();
});

test('names with odd characters survive in addresses', () => {
  const odd = '/a b/<img onerror>?#%41é.txt';
  const address = fileAddress({ id: 'x' }, 'workspace', odd, { line: 7 });
  expect(new URL(address, 'http://x').searchParams.get('path')).toBe(odd);
  expect(new URL(address, 'http://x').hash).toBe('#L7');
  const raw = bytesAddress({ id: 'x' }, 'tmp', odd);
  expect(decodeURIComponent(new URL(raw, 'http://x').pathname)).toBe(`/api/instances/x/volumes/tmp${odd}`);
  expect(raw).not.toMatch(/[?#<> ]/);
});

test('links in a file lead to files beside it, and nowhere else', () => {
  expect(linkedPath('/docs/a.md', 'b.md#part')).toBe('/docs/b.md');
  expect(linkedPath('/docs/a.md', '../src/c%20d.js')).toBe('/src/c d.js');
  expect(linkedPath('/docs/a.md', '/top/')).toBe('/top/');
  expect(linkedPath('/docs/a.md', '../../out')).toBeNull();
  for (const link of [
    'https://x.example',
    '//x.example/a',
    'javascript:alert(1)',
    'JaVaScript:x',
    'data:text/html,x',
    '#a',
    '',
  ]) {
    expect([link, linkedPath('/docs/a.md', link)]).toEqual([link, null]);
  }
});

test('text is shown as code, cut between characters, and at a line end when the file goes on', () => {
  expect(part('/a.txt', 'one\ntwo')).toMatchObject({ kind: 'code', text: 'one\ntwo', language: null, bytes: 7 });
  expect(part('/a.ts', 'let a')).toMatchObject({ kind: 'code', language: 'typescript' });
  const cut = part('/a.txt', bytes('ab\nnaï').subarray(0, 6), { size: 100 });
  expect(cut).toMatchObject({ kind: 'code', text: 'ab\n', bytes: 3 });
  const oneLine = part('/a.txt', bytes('naïve').subarray(0, 3), { size: 100 });
  expect(oneLine).toMatchObject({ kind: 'code', text: 'na', bytes: 2 });
  const middle = part('/a.txt', bytes('ïve\n').subarray(1), { from: 4, size: 8 });
  expect(middle).toMatchObject({ kind: 'code', text: 've\n', bytes: 4 });
  expect(part('/many.txt', 'x\n'.repeat(5000))).toMatchObject({ bytes: 4000 });
  expect(part('/empty', '')).toMatchObject({ kind: 'empty' });
});

test('each kind of file is recognised by its name and its bytes, and offers its source when it is rendered', () => {
  expect(part('/a.md', '# Hi')).toMatchObject({ kind: 'markdown', twofold: true });
  expect(part('/a.md', '# Hi', { source: true })).toMatchObject({ kind: 'code', language: 'markdown', twofold: true });
  expect(part('/a.json', '{"a":1}')).toMatchObject({ kind: 'json', twofold: true });
  expect(part('/a.json', '{"a":')).toMatchObject({ kind: 'code', language: 'json', twofold: false });
  expect(part('/a.csv', 'a,b\n1,"x\ny"\n')).toMatchObject({ kind: 'table', head: ['a', 'b'], rows: [['1', 'x\ny']] });
  expect(part('/a.png', Uint8Array.of(0, 1))).toMatchObject({ kind: 'image' });
  expect(part('/a.svg', '<svg/>')).toMatchObject({ kind: 'code', language: 'xml' });
  const hex = part('/a.bin', Uint8Array.of(0, 65, 255), { from: 4096, size: 4099 });
  expect(hex).toMatchObject({ kind: 'hex', rows: [{ offset: '001000', hex: '00 41 ff', text: '·A·' }], bytes: 3 });
  expect(part('/a.bin', new Uint8Array(PART_BYTES), { size: PART_BYTES * 2 }).bytes).toBe(4096);
  expect(partBefore(8192, 'hex')).toBe(4096);
  expect(partBefore(100, 'code')).toBe(0);
});

test('a table keeps uneven rows, and reports how many rows and columns there are', () => {
  const rows = Array.from({ length: 300 }, (_, index) => `${index}\t${'x\t'.repeat(index % 50)}`).join('\n');
  const table = parseTable(`a\tb\n${rows}`, true);
  expect(table).toMatchObject({ rowsThere: 300, columnsThere: 51 });
  expect(table?.rows).toHaveLength(200);
  expect(new Set(table?.rows.map((row) => row.length))).toEqual(new Set([40]));
  expect(parseTable('', false)).toBeNull();
});

test('JSON keeps the digits, escapes, order and duplicate keys of the file', () => {
  const text = '{"b":12345678901234567890,"2":"\\u003c\\"{","a":[true,null,{}],"b":-1.50e+3,"1":[]}';
  const back = (node: JsonNode): string => {
    if (node.kind === 'array') return `[${node.members.map(({ value }) => back(value)).join(',')}]`;
    if (node.kind === 'object') return `{${node.members.map(({ key, value }) => `${key}:${back(value)}`).join(',')}}`;
    return node.text;
  };
  const tree = jsonTree(text);
  expect(tree === null ? null : back(tree)).toBe(text);
  expect(jsonTree('{"a":}')).toBeNull();
  expect(jsonTree('['.repeat(60) + ']'.repeat(60))).toBeNull();
  expect(jsonTree(`[${'1,'.repeat(5000)}1]`)).toBeNull();
});

test('code is split into numbered lines that keep their colours across line ends, and its markup stays text', () => {
  const tree = codeLines('/* a\nb */ let x = "<b>"\n', 'javascript', { firstLine: 10, marked: 11 });
  const lines = tree.children.map((line) => (line.type === 'element' ? line : null));
  expect(lines.map((line) => line?.properties)).toEqual([
    { className: ['line'], id: 'L10', dataLine: '10' },
    { className: ['line', 'line-found'], id: 'L11', dataLine: '11' },
  ]);
  const all = JSON.stringify(tree);
  expect(lines.map((line) => JSON.stringify(line).includes('hljs-comment'))).toEqual([true, true]);
  expect(all).toContain('\\"<b>\\"');
  expect(all).not.toMatch(/"tagName":"(?!span)/);
  expect(codeLines('a\nb', 'no-such', { firstLine: null, marked: null }).children).toHaveLength(2);
});

test('lines are found and counted in bytes', () => {
  const text = bytes('one\ntwo\nthree');
  expect([1, 2, 3, 4].map((line) => startOfLine(text, line))).toEqual([0, 4, 8, null]);
  expect(lineEnds(text)).toBe(2);
});

test('only text with uniform line ends is edited in place', () => {
  expect(editable('a\nb')).toEqual({ text: 'a\nb', lineEnd: '\n' });
  expect(editable('a\r\nb\r\n')).toEqual({ text: 'a\nb\n', lineEnd: '\r\n' });
  expect(editable('a\r\nb\n')).toBeNull();
  expect(editable('a\rb')).toBeNull();
});

test('uploads go two at a time; one whose name is taken waits for a decision and loses nothing', () => {
  const files = ['a', 'b', 'c'].map((key) => ({
    key,
    volume: 'workspace' as const,
    path: `/${key}`,
    address: `/${key}`,
    page: '',
    size: 10,
  }));
  let queue = uploadQueue([], { type: 'add', files });
  expect(toBegin(queue).map(({ key }) => key)).toEqual(['a', 'b']);
  queue = uploadQueue(queue, { type: 'start', key: 'a' });
  queue = uploadQueue(queue, { type: 'sent', key: 'a', bytes: 5 });
  expect(toBegin(queue).map(({ key }) => key)).toEqual(['b']);
  expect(queue[0]).toMatchObject({ state: 'sending', sent: 5 });
  queue = uploadQueue(queue, { type: 'end', key: 'a', end: { state: 'exists' } });
  for (const key of ['b', 'c']) queue = uploadQueue(queue, { type: 'end', key, end: { state: 'done' } });
  expect(queueInWords(queue)).toBe('2 of 3 files are there, 1 to decide on.');
  queue = uploadQueue(queue, { type: 'replace', key: 'a' });
  expect(toBegin(queue)).toMatchObject([{ key: 'a', replace: true }]);
  queue = uploadQueue(queue, { type: 'end', key: 'a', end: { state: 'failed', says: 'It is too large.' } });
  expect(uploadQueue(queue, { type: 'clear' })).toMatchObject([{ key: 'a', says: 'It is too large.' }]);
  expect(uploadQueue(queue, { type: 'again', key: 'a' })[0]).toMatchObject({
    state: 'waiting',
    replace: true,
    says: null,
  });
});

test('a drop of more files than are taken at once says so, and keeps the paths below a folder', () => {
  const file = (name: string, webkitRelativePath = '') => Object.assign(new File([], name), { webkitRelativePath });
  const few = chosenFiles([file('a.txt'), file('b.txt', 'photos/b.txt')]);
  expect([few.files.map(({ relativePath }) => relativePath), few.more]).toEqual([['a.txt', 'photos/b.txt'], false]);
  const many = chosenFiles(Array.from({ length: MAX_CHOSEN + 1 }, (_, n) => file(`${n}`)));
  expect([many.files.length, many.more]).toEqual([MAX_CHOSEN, true]);
  expect(chosenFiles(null)).toEqual({ files: [], more: false });
});
