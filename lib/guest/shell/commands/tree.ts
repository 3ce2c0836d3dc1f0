/** `tree`: folders as a drawing, as tree 2.1. */
import type { FileStatus, NamedFile } from './command-files.ts';
import { permissionLetters } from './file-words.ts';
import { globRegex } from './glob.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const NO_BREAK = '\u00a0';
const DRAWN = { next: '├── ', last: '└── ', down: `│${NO_BREAK}${NO_BREAK} `, none: '    ' };
const ASCII = { next: '|-- ', last: '`-- ', down: '|   ', none: '    ' };
const KINDS = { file: '-', dir: 'd', link: 'l', device: 'c' } as const;
const FAILED = 2;

interface Settings {
  has: (key: string) => boolean;
  depth: number;
  wanted: RegExp[];
  left: RegExp[];
  marks: typeof DRAWN;
}

interface Node {
  file: NamedFile;
  /** It is a folder, or a link to one. */
  isFolder: boolean;
  children: Node[] | null;
}

interface Counts {
  folders: number;
  files: number;
}

export const tree: OwnCommand = {
  like: 'tree 2.1.0',
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'adfilFshprtnNCqI:P:L:JDguxXR',
      long: {
        dirsfirst: 'dirsfirst',
        noreport: 'noreport',
        prune: 'prune',
        'charset=': 'charset',
        'ignore-case': 'case',
        matchdirs: 'matchdirs',
        'filelimit=': 'filelimit',
        gitignore: 'gitignore',
        du: 'du',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    for (const key of ['l', 'C', 'J', 'D', 'g', 'u', 'X', 'R', 'filelimit', 'gitignore', 'du'])
      if (has(key))
        call.end(
          `the option ${options.find((option) => option.key === key)?.written} is not supported in this sandbox`,
        );
    const level = options.findLast(({ key }) => key === 'L')?.value;
    if (typeof level === 'string' && !/^[1-9]\d*$/.test(level)) call.end('Invalid level, must be greater than 0.');
    const patterns = (wanted: string) =>
      options
        .flatMap(({ key, value }) => (key === wanted ? (value ?? '').split('|') : []))
        .map((glob) => globRegex(glob.replace(/\/$/, ''), has('case')));
    const isAscii = /ascii/i.test(options.findLast(({ key }) => key === 'charset')?.value ?? '');
    const settings: Settings = {
      has,
      depth: typeof level === 'string' ? Number(level) : Number.POSITIVE_INFINITY,
      wanted: patterns('P'),
      left: patterns('I'),
      marks: isAscii ? ASCII : DRAWN,
    };
    const counts: Counts = { folders: 0, files: 0 };
    for (const operand of operands.length === 0 ? ['.'] : operands) await printTree(call, operand, settings, counts);
    if (!has('noreport')) {
      const { folders, files } = counts;
      const listed = `${folders} director${folders === 1 ? 'y' : 'ies'}`;
      call.print(`\n${listed}${has('d') ? '' : `, ${files} file${files === 1 ? '' : 's'}`}\n`);
    }
    return undefined;
  },
};

async function printTree(call: CommandCall, operand: string, settings: Settings, counts: Counts): Promise<void> {
  const bare = /^.+[^/]/.test(operand) ? operand.replace(/\/+$/, '') : operand;
  const path = call.path(operand);
  let root: FileStatus | null = null;
  try {
    root = call.files.look(path);
  } catch (error) {
    reasonOf(error);
  }
  if (root?.kind !== 'dir') {
    call.print(`${operand}  [error opening dir]\n`);
    if (root === null) call.exitCode = FAILED;
    else counts.files += 1;
    return;
  }
  counts.folders += 1;
  call.print(`${facts(root, settings)}${operand}${settings.has('F') && !operand.endsWith('/') ? '/' : ''}\n`);
  const nodes = await nodesIn(call, path, settings, 1);
  const lines: string[] = [];
  draw(nodes, '', bare, settings, counts, lines);
  call.print(lines.join(''));
}

async function nodesIn(call: CommandCall, path: string, settings: Settings, depth: number): Promise<Node[]> {
  await call.turn();
  const { has, wanted, left } = settings;
  const isFolder = (file: NamedFile) => file.kind === 'dir';
  const listed = call.files
    .children(path)
    .filter(({ name }) => has('a') || !name.startsWith('.'))
    .filter((file) => !has('d') || isFolder(file) || leadsToFolder(call, path, file))
    .filter(({ name }) => !left.some((glob) => glob.test(name)))
    .filter((file) => wanted.length === 0 || isFolder(file) || wanted.some((glob) => glob.test(file.name)));
  const by = has('t')
    ? (one: NamedFile, other: NamedFile) => one.mtime - other.mtime
    : (one: NamedFile, other: NamedFile) => (one.name < other.name ? -1 : 1);
  const sorted = listed.toSorted((one, other) => (has('r') ? by(other, one) : by(one, other)));
  const ordered = has('dirsfirst') ? [...sorted.filter(isFolder), ...sorted.filter((file) => !isFolder(file))] : sorted;
  const nodes: Node[] = [];
  for (const file of ordered) {
    const goesOn = isFolder(file) && depth < settings.depth;
    const children = goesOn ? await nodesIn(call, file.path, settings, depth + 1) : null;
    if (has('prune') && isFolder(file) && (children ?? []).length === 0) continue;
    nodes.push({ file, isFolder: isFolder(file) || leadsToFolder(call, path, file), children });
  }
  return nodes;
}

function leadsToFolder(call: CommandCall, path: string, { kind, name }: NamedFile): boolean {
  return kind === 'link' && call.files.isDirectory(`${path}/${name}`);
}

function draw(
  nodes: readonly Node[],
  margin: string,
  above: string,
  settings: Settings,
  counts: Counts,
  lines: string[],
): void {
  const { has, marks } = settings;
  for (const [at, { file, isFolder: isCounted, children }] of nodes.entries()) {
    const isLast = at === nodes.length - 1;
    const isFolder = file.kind === 'dir';
    const full = `${above === '/' ? '' : above}/${file.name}`;
    const name = has('f') ? full : file.name;
    const ends = has('F') ? (isFolder ? '/' : file.kind === 'file' && (file.mode & 0o111) !== 0 ? '*' : '') : '';
    const target = file.target === null ? '' : ` -> ${file.target}`;
    const branch = has('i') ? '' : margin + (isLast ? marks.last : marks.next);
    lines.push(`${branch}${facts(file, settings)}${name}${target}${ends}\n`);
    if (isCounted) counts.folders += 1;
    else counts.files += 1;
    if (children !== null) draw(children, margin + (isLast ? marks.none : marks.down), full, settings, counts, lines);
  }
}

function facts(file: FileStatus, { has }: Settings): string {
  const parts = [
    has('p') ? `${KINDS[file.kind]}${permissionLetters(file.mode)}` : null,
    has('h') ? humanSize(file.size).padStart(4) : has('s') ? String(file.size).padStart(11) : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : `[${parts.join(' ')}]  `;
}

function humanSize(bytes: number): string {
  let [value, unit] = [bytes, -1];
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit += 1;
  }
  if (unit < 0) return String(bytes);
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}${'KMGTP'[unit]}`;
}
