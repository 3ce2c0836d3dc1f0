/**
 * Each form and button that makes a call of the API is marked with it, so that the panel of calls can show it. What is
 * enumerated: uses of server actions, plain forms, and buttons of modules that call the API from the browser.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const sources = globSync('{app,components}/**/*.{ts,tsx}', { cwd: ROOT }).filter((path) => !path.includes('.test.'));

/** Server actions that are no single call of the API, and why. */
const NO_CALL: Readonly<Record<string, string>> = {
  signIn: 'begins a session of the browser',
  signOut: 'ends it',
  acceptInvitation: 'begins one',
  chooseTheme: 'kept in a cookie',
  chooseZone: 'of the console only',
  chooseColumns: 'kept in a cookie',
  saveFilter: 'kept in a cookie',
  removeFilter: 'kept in a cookie',
  openNewWorkbook: 'opens the editor; nothing is stored',
  tryExample: 'several calls',
  tryFirstExample: 'several calls, which the page shows in curl',
  sandboxForPalette: 'reads for the palette',
  sandboxForTerminal: 'reads for the drawer',
};

/** Uses of other actions without a mark, and why. */
const UNMARKED: Readonly<Record<string, string>> = {
  'app/masthead.tsx moveSandbox': 'the palette chooses by Enter and has no buttons; the page has the same ones',
  'app/overview/settle-forms.tsx settleOperation': 'settling and starting again are two calls',
  'app/sandboxes/[id]/network-tab.tsx startAnew': 'suspending and waking are two calls',
};

/** Components that hold the marks of the actions which they are given. */
const MARKED_INSIDE = ['FileBar', 'FileControls', 'Moves', 'SessionList'];

/** Modules whose plain forms are marked where the component is used. */
const FORMS_MARKED_OUTSIDE = ['app/sandboxes/[id]/shares-tab.tsx', 'components/files/upload-form.tsx'];

/** Modules that call the API from the browser, and which modules have the buttons; none: no button does it. */
const BROWSER_CALLS: Readonly<Record<string, readonly string[]>> = {
  'components/files/file-calls.ts': [
    'components/files/file-bar.tsx',
    'components/files/file-controls.tsx',
    'components/files/files-provider.tsx',
    'components/files/uploads.tsx',
  ],
  'components/terminal/kept-terminal.ts': ['components/terminal/terminal.tsx'],
  // The form of a run has the mark of its plain twin.
  'components/workbook/use-live-run.ts': ['app/sandboxes/[id]/workbook-tab.tsx'],
  // Sends a plain form, which is marked where it is used.
  'components/files/upload-form.tsx': [],
  // The explorer shows each call as text beside its button.
  'app/explorer/streams.ts': [],
  // The palette chooses by Enter and has no buttons; the page's own do the same.
  'components/palette/data.ts': [],
  'components/palette/perform.ts': [],
  'components/palette/run-step.tsx': [],
  // What is read while somebody types or waits.
  'components/figures/use-followed-load.ts': [],
  'components/live/cache.ts': [],
  'components/live/steady-fetch.ts': [],
  'components/live/held-act.ts': [],
  'components/live/job-notifier.tsx': [],
  'components/live/keep-page.ts': [],
  'components/live/server-reach.ts': [],
  'components/live/stream.ts': [],
  'components/terminal/completion.ts': [],
  'components/workbook/workbook-editor.tsx': [],
};

/** A node of the syntax tree, as far as it is looked at here. */
interface Node {
  type: string;
  start: number;
  end: number;
  name?: string | Node;
  [member: string]: unknown;
}

interface Source {
  text: string;
  nodes: readonly Node[];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';

/** The nodes of a tree, each after the one that it is in, which `parents` tells. */
function nodesOf(node: Node, parents: Map<Node, Node>, found: Node[] = []): Node[] {
  found.push(node);
  for (const member of Object.values(node)) {
    for (const child of Array.isArray(member) ? member : [member]) {
      if (!isNode(child)) continue;
      parents.set(child, node);
      nodesOf(child, parents, found);
    }
  }
  return found;
}

const parents = new Map<Node, Node>();

const parsed = new Map(
  sources.map((path): [string, Source] => {
    const text = readFileSync(resolve(ROOT, path), 'utf8');
    // Elements, and the actions that they are given, are in .tsx alone.
    const program = path.endsWith('x') ? (parseAst(text, { lang: 'tsx' }) as unknown as Node) : null;
    return [path, { text, nodes: program === null ? [] : nodesOf(program, parents) }];
  }),
);

const textOf = (source: Source, node: unknown): string => (isNode(node) ? source.text.slice(node.start, node.end) : '');

/** Path from the root of what a module imports; '' for a package. */
function importedPath(from: string, specifier: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1);
  return specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(from), specifier)) : '';
}

const isServerModule = ({ text }: Source) => text.startsWith("'use server'");

const actions = new Set(
  [...parsed.values()]
    .filter(isServerModule)
    .flatMap(({ text }) => [...text.matchAll(/^export async function (\w+)/gm)].map(([, name = '']) => name)),
);

/** The actions that a module imports. */
function importedActions(path: string, { nodes }: Source): Set<string> {
  const names = new Set<string>();
  for (const node of nodes) {
    if (node.type !== 'ImportSpecifier') continue;
    const from = parsed.get(
      importedPath(path, String((parents.get(node)?.source as { value?: string } | undefined)?.value)),
    );
    const { name } = node.local as { name: string };
    if (from !== undefined && isServerModule(from) && actions.has(name)) names.add(name);
  }
  return names;
}

const tagOf = (source: Source, element: Node) => textOf(source, (element.openingElement as Node).name);

function attributesOf(element: Node): Node[] {
  return (element.openingElement as { attributes: Node[] }).attributes;
}

/** The text of an attribute's value; null without that attribute. */
function attribute(source: Source, element: Node, name: string): string | null {
  const found = attributesOf(element).find((one) => isNode(one.name) && textOf(source, one.name) === name);
  return found === undefined ? null : textOf(source, found.value);
}

function isMark(source: Source, element: Node): boolean {
  if (/^WithCalls?$/.test(tagOf(source, element))) return true;
  return attributesOf(element).some((one) => /^callMarks?\(/.test(textOf(source, one.argument)));
}

/** Whether an element around a node has the mark of a call. */
function isMarked(source: Source, node: Node): boolean {
  for (let at = parents.get(node); at !== undefined; at = parents.get(at)) {
    if (at.type !== 'JSXElement') continue;
    if (isMark(source, at) || MARKED_INSIDE.includes(tagOf(source, at))) return true;
  }
  return false;
}

/** Each element of the console with its module. */
const elements = [...parsed].flatMap(([path, source]) =>
  source.nodes.filter(({ type }) => type === 'JSXElement').map((element) => ({ path, source, element })),
);

/** Whether a name is that of another thing's member. */
function isMember(node: Node): boolean {
  const around = parents.get(node);
  if (around?.type === 'MemberExpression') return around.property === node;
  return around?.type === 'Property' && around.key === node;
}

test('every use of a server action is inside a mark of its call, or is known to have none', () => {
  const unmarked = new Set<string>();
  const used = new Set<string>();
  for (const [path, source] of parsed) {
    const names = importedActions(path, source);
    for (const node of source.nodes) {
      const { type, name } = node;
      const { type: around } = parents.get(node) ?? {};
      if (type !== 'Identifier' || typeof name !== 'string' || !names.has(name)) continue;
      if (around === 'ImportSpecifier' || isMember(node)) continue;
      used.add(name);
      if (NO_CALL[name] === undefined && !isMarked(source, node)) unmarked.add(`${path} ${name}`);
    }
  }
  expect([...unmarked].sort()).toEqual(Object.keys(UNMARKED).sort());
  expect([...actions].filter((name) => !used.has(name))).toEqual([]);
  expect(Object.keys(NO_CALL).filter((name) => !actions.has(name))).toEqual([]);
  expect(actions.size).toBeGreaterThan(50);
});

test('a component that holds the marks itself holds some', () => {
  for (const name of MARKED_INSIDE) {
    const path = [...parsed].find(([, { text }]) => text.includes(`export function ${name}(`))?.[0];
    let marks = 0;
    for (const one of elements) if (one.path === path && isMark(one.source, one.element)) marks += 1;
    expect([name, marks > 0]).toEqual([name, true]);
  }
});

test('every plain form that posts is inside a mark of its call', () => {
  const forms: [string, boolean][] = [];
  for (const { path, source, element } of elements) {
    const tag = tagOf(source, element);
    const posts = tag === 'form' && attribute(source, element, 'method') === '"post"';
    if (tag === 'UploadForm' || posts) forms.push([path, isMarked(source, element)]);
  }
  expect(forms.filter(([path, marked]) => !marked && !FORMS_MARKED_OUTSIDE.includes(path))).toEqual([]);
  expect(forms.length).toBeGreaterThan(FORMS_MARKED_OUTSIDE.length + 2);
});

test('every module that calls the API from the browser is known, and the modules with its buttons mark them', () => {
  const calling = [...parsed].filter(([, { text }]) => /\bfetch\(|new XMLHttpRequest|\bcreateClient\(/.test(text));
  expect(calling.map(([path]) => path).sort()).toEqual(Object.keys(BROWSER_CALLS).sort());
  for (const path of new Set(Object.values(BROWSER_CALLS).flat())) {
    expect([path, /\bcallMark\(|<WithCalls?\b/.test(parsed.get(path)?.text ?? '')]).toEqual([path, true]);
  }
});

test('every download by an address of the API has the mark of its call', () => {
  const links: [string, boolean][] = [];
  for (const { path, source, element } of elements) {
    if (tagOf(source, element) !== 'a' || attribute(source, element, 'download') === null) continue;
    const address = attribute(source, element, 'href') ?? '';
    if (address !== '{url}') links.push([`${path} ${address}`, isMark(source, element)]);
  }
  expect(links.filter(([, marked]) => !marked)).toEqual([]);
  expect(links.length).toBeGreaterThan(5);
});
