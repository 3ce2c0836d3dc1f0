// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the content of shell scripts.
/**
 * The files that every invocation of the conformance table finds in /workspace: names with spaces, newlines, quotes and
 * UTF-8, links, bytes that are no text. The same entries become a VFS file and a folder of the machine.
 */
import { chmodSync, lutimesSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeToRest, openLive } from '../../../vfs/open.ts';
import { parseVfsPath } from '../../../vfs/paths.ts';

interface FileEntry {
  /** Relative to /workspace. */
  path: string;
  /** Absent for a directory. */
  content?: Uint8Array;
  link?: string;
  mode: number;
  /** Epoch seconds. Every entry has a fixed one, so that listings by time are the same everywhere. */
  mtime: number;
}

/** 2024-01-01T00:00:00Z. */
const FIRST_MTIME = 1_704_067_200;
const HOUR = 3600;
const MIB = 1024 * 1024;

const numbered = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at + 1)}\n`).join('');

const LEVELS = ['INFO', 'DEBUG', 'WARN', 'INFO', 'ERROR', 'INFO', 'INFO'];
const two = (value: number) => String(value).padStart(2, '0');
const LOG = numbered(
  120,
  (at) =>
    `2024-03-${two(1 + (at % 28))} ${two(at % 24)}:${two((at * 7) % 60)}:00 ${LEVELS[at % 7]} request id=${at * 37} took ${(at * 131) % 997}ms`,
);
const ACCESS = numbered(
  60,
  (at) =>
    `10.0.${at % 4}.${at % 7} - - [12/Mar/2024:10:${two(at % 60)}:00 +0000] "${at % 5 === 0 ? 'POST' : 'GET'} /${['', 'api/users', 'static/app.js', 'login'][at % 4]} HTTP/1.1" ${[200, 200, 304, 404, 200, 500][at % 6]} ${(at * 173) % 5000}`,
);

const FILES: readonly [path: string, content: string | Uint8Array, mode?: number][] = [
  [
    'README.md',
    '# Sample project\n\nA small project.\n\n## Usage\n\n```sh\nnpm start\n```\n\n- TODO: write more\n- see [guide](docs/guide.md)\n',
  ],
  [
    'package.json',
    '{\n  "name": "sample",\n  "version": "1.4.2",\n  "scripts": {\n    "start": "node src/index.ts",\n    "test": "vitest run"\n  },\n  "dependencies": {\n    "left-pad": "^1.3.0",\n    "zod": "^3.22.4"\n  }\n}\n',
  ],
  ['.env', 'PORT=8080\nDB_URL=postgres://localhost:5432/app\n# comment\nDEBUG=\n'],
  ['.gitignore', 'node_modules/\n*.log\n/dist\n'],
  [
    'src/index.ts',
    "import { add } from './lib/math.ts';\nimport { format } from './util.ts';\n\n// TODO: read the port from the environment\nconst port = 8080;\n\nexport function main(): void {\n  console.log(format(add(1, 2)), port);\n}\n\nmain();\n",
  ],
  [
    'src/util.ts',
    'export function format(value: number): string {\n\treturn `value: ${value}`;\n}\n\nexport const noop = () => {}; // FIXME never used\n',
  ],
  [
    'src/lib/math.ts',
    'export function add(a: number, b: number): number {\n  return a + b;\n}\n\nexport function sub(a: number, b: number): number {\n  return a - b;\n}\n',
  ],
  [
    'src/lib/math.test.ts',
    "import { expect, test } from 'vitest';\nimport { add } from './math.ts';\n\ntest('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n",
  ],
  [
    'src/app/main.py',
    'import os\nimport sys\n\n\ndef main(argv):\n    """Entry point."""\n    # TODO: parse arguments\n    for arg in argv:\n        print(arg)\n    return 0\n\n\nif __name__ == "__main__":\n    sys.exit(main(sys.argv[1:]))\n',
  ],
  ['src/app/__init__.py', ''],
  ['src/styles/site.css', 'body {\n  margin: 0;\n  color: #333;\n}\n\n.header { color: #FFF; }\n'],
  [
    'docs/guide.md',
    '# Guide\n\nFirst install it.\nThen run it.\n\n## Install\n\n    npm install\n\n## Run\n\nUse `npm start`.\nthe the end\n',
  ],
  ['docs/my notes.txt', 'buy milk\ncall Ann\nwrite report\nbuy bread\n'],
  ['docs/naïve café.md', '# Café\n\nÜber naïve Ideen – “quoted” text.\nПривет, мир\n日本語テキスト\n'],
  [
    'data/people.csv',
    'name,age,city,joined\nAnn,34,Berlin,2021-03-14\nBob,27,Paris,2020-11-02\nCarla,41,Rome,2019-07-30\n"Doe, Jane",29,London,2022-01-05\nEve,34,Berlin,2018-12-24\nFrank,19,Oslo,2023-05-17\n',
  ],
  ['data/scores.tsv', 'ann\t10\t3.5\nbob\t7\t12.25\ncarla\t10\t-1\neve\t100\t0.5\nfrank\t8\t1e3\n'],
  ['data/teams.txt', 'ann red\nbob blue\ncarla red\ngina green\n'],
  ['data/words.txt', 'pear\napple\nfig\nApple\nbanana\nfig\ncherry\napple\n\nfig\nBanana\n'],
  ['data/numbers.txt', '10\n9\n2\n33\n1\n-5\n2\n100\n007\n3.14\n'],
  ['data/access.log', ACCESS],
  [
    'data/config.json',
    '{"server":{"host":"localhost","port":8080,"tags":["a","b"]},"debug":true,"users":[{"name":"ann","id":1},{"name":"bob","id":2}]}\n',
  ],
  ['data/config.ini', '[server]\nhost = localhost\nport=8080\n\n; comment\n[client]\ntimeout = 30\n'],
  ['data/empty.txt', ''],
  ['data/no-newline.txt', 'first line\nlast line without newline'],
  ['data/crlf.txt', 'one\r\ntwo\r\nthree\r\n'],
  ['data/blank-lines.txt', '\n\nalpha\n\n\n\nbeta  \n\tgamma\n\n'],
  ['data/emoji.txt', 'naïve\n🎉 party\nplain\nzażółć\n'],
  [
    'data/binary.bin',
    Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0xff, 0xfe, 0x0a, 0x61, 0x62, 0x63, 0, 0x0a]),
  ],
  ['data/latin1.txt', Buffer.from('caf\xe9\nplain\n', 'latin1')],
  ['data/long-line.txt', `${'word '.repeat(60).trim()}\nshort\n`],
  ['logs/app.log', LOG],
  ['logs/app.log.1', numbered(10, (at) => `2024-02-${two(at)} 00:00:00 INFO old line ${at}`)],
  ['logs/error.log', 'ERROR: disk full\nWARN: retry\nerror: lower case\nERROR: disk full\n'],
  ['node_modules/left-pad/index.js', 'module.exports = (s, n) => String(s).padStart(n); // TODO upstream\n'],
  ['node_modules/left-pad/package.json', '{ "name": "left-pad", "version": "1.3.0" }\n'],
  ['.git/config', '[core]\n\tbare = false\n'],
  ['.git/HEAD', 'ref: refs/heads/main\n'],
  ['build/out.o', Uint8Array.from([0, 1, 2, 3, 0x54, 0x4f, 0x44, 0x4f, 0])],
  ['scripts/run.sh', '#!/bin/bash\nset -e\necho "run $1"\nexit ${2:-0}\n', 0o755],
  ['scripts/lib.sh', 'greet() {\n  echo "hello, ${1:-world}"\n}\nLIB_LOADED=yes\n'],
  ['deep/a/b/c/d/leaf.txt', 'leaf\n'],
  ['deep/a/other.txt', 'other\nTODO here\n'],
  ['versions/old.txt', 'alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\neta\ntheta\n'],
  ['versions/new.txt', 'alpha\nBETA\ngamma\ndelta\nepsilon\nzeta\niota\neta\ntheta\nkappa\n'],
  [
    'versions/fix.patch',
    '--- a/versions/old.txt\n+++ b/versions/old.txt\n@@ -1,4 +1,4 @@\n alpha\n-beta\n+BETA\n gamma\n delta\n@@ -5,4 +5,5 @@\n epsilon\n zeta\n+iota\n eta\n theta\n',
  ],
  ['odd/new\nline.txt', 'in a name with a newline\n'],
  ['odd/-dash.txt', 'dash\n'],
  ["odd/it's.txt", 'quote\n'],
  ['odd/tab\there.txt', 'tab\n'],
  ['odd/star*.txt', 'star\n'],
  ['odd/$dollar.txt', 'dollar\n'],
  ['odd/two  spaces.txt', 'spaces\n'],
];

const LINKS: readonly [path: string, target: string][] = [
  ['links/to-file', '../data/words.txt'],
  ['links/to-dir', '../src/lib'],
  ['links/broken', 'nowhere'],
  ['links/to-link', 'to-file'],
];

const DIRECTORIES = ['empty-dir'];

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Directories come before what is in them. */
const FILE_TREE: readonly FileEntry[] = (() => {
  const directories = new Set([
    ...FILES.flatMap(([path]) => parentsOf(path)),
    ...LINKS.flatMap(([path]) => parentsOf(path)),
    ...DIRECTORIES,
  ]);
  const entries: Omit<FileEntry, 'mtime'>[] = [
    ...[...directories].map((path) => ({ path, mode: 0o755 })),
    ...FILES.map(([path, content, mode = 0o644]) => ({ path, content: Buffer.from(content), mode })),
    ...LINKS.map(([path, link]) => ({ path, link, mode: 0o777 })),
  ];
  return entries.map((entry, at) => ({ ...entry, mtime: FIRST_MTIME + at * HOUR }));
})();

/** The time of /workspace itself: a VFS has none of its own for it, and takes that of its first file. */
export const ROOT_MTIME = FILE_TREE.filter(({ content }) => content !== undefined).toSorted((one, other) =>
  one.path < other.path ? -1 : 1,
)[0]?.mtime;

/** Writes the tree as the VFS file of a sandbox. */
export function writeVfsFile(file: string): void {
  const vfs = openLive(file, { maxBytes: 64 * MIB, maxFileBytes: 16 * MIB, mustExist: false });
  for (const entry of FILE_TREE) {
    const path = parseVfsPath(`/${entry.path}`);
    if (entry.link !== undefined) vfs.link(path, entry.link, 'workspace');
    else if (entry.content !== undefined) vfs.put(path, entry.content, 'workspace');
    else vfs.mkdir(path, 'workspace');
    if (entry.link === undefined) vfs.chmod(path, entry.mode, 'workspace');
  }
  for (const entry of FILE_TREE) vfs.utimes(parseVfsPath(`/${entry.path}`), entry.mtime, 'workspace');
  closeToRest(vfs);
}

/** Writes the tree into an existing folder of the machine. */
export function writeFolder(folder: string): void {
  for (const entry of FILE_TREE) {
    const path = join(folder, entry.path);
    if (entry.link !== undefined) symlinkSync(entry.link, path);
    else if (entry.content !== undefined) writeFileSync(path, entry.content);
    else mkdirSync(path);
    if (entry.link === undefined) chmodSync(path, entry.mode);
  }
  for (const entry of FILE_TREE.toReversed()) {
    if (entry.link === undefined) utimesSync(join(folder, entry.path), entry.mtime, entry.mtime);
    else lutimesSync(join(folder, entry.path), entry.mtime, entry.mtime);
  }
}
