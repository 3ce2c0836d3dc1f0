/** `df`: the room of a sandbox's file, which its three volumes share, and what each of them holds. */
import type { FileStatus } from './command-files.ts';
import { humanSize } from './file-words.ts';
import { type CommandCall, inQuotes, type OwnCommand, reasonOf } from './own-command.ts';

const WHOLE = '/';
const VOLUMES = ['/workspace', '/memory', '/tmp'];
const NAME = 'sandbox';
const KIND = 'sqlite';
/** The least width of a column, as GNU's: all but the first one and the last one are set to the right. */
const WIDTHS: Readonly<Record<string, number>> = { source: 14, fstype: 4, size: 5, used: 5, avail: 5, pcent: 4 };
const LEFT = new Set(['source', 'fstype', 'target', 'file']);
const FIELDS = [
  'source',
  'fstype',
  'itotal',
  'iused',
  'iavail',
  'ipcent',
  'size',
  'used',
  'avail',
  'pcent',
  'file',
  'target',
];

interface Row {
  target: string;
  file: string;
  size: number;
  used: number;
  avail: number;
}

export const df: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'aB:hHiklmPTt:x:v',
      long: {
        all: 'a',
        'block-size=': 'B',
        'human-readable': 'h',
        inodes: 'i',
        local: 'l',
        'no-sync': 'v',
        'output=?': 'output',
        portability: 'P',
        'print-type': 'T',
        si: 'H',
        sync: 'v',
        total: 'total',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    if (has('t') || has('x')) call.end('there is one kind of file system: options -t and -x are not supported');
    const unit = unitOf(call, options.findLast(({ key }) => 'BhHkm'.includes(key)) ?? null, has('P'));
    const chosen = options.findLast(({ key }) => key === 'output')?.value;
    const fields = has('output') ? outputFields(call, chosen ?? '') : usualFields(has('T'), has('i'));
    const rows: Row[] = [];
    const named = operands.flatMap((name) => targetOf(call, name) ?? []);
    if (operands.length > 0 && named.length === 0) return 1;
    const shown = operands.length > 0 ? named : [WHOLE, ...VOLUMES].map((target) => ({ target, file: '-' }));
    for (const each of shown) rows.push(await rowOf(call, each));
    const total: Row = { ...(await rowOf(call, { target: WHOLE, file: '-' })), target: '-' };
    if (has('total')) rows.push(total);
    const lines = [fields.map((field) => titleOf(field, unit.title, has('P') || has('h') || has('H'), has('P')))];
    for (const row of rows) lines.push(fields.map((field) => cellOf(field, row, unit.show, row === total)));
    print(call, fields, lines);
    return undefined;
  },
};

/** The volume of a file, or the whole of a path outside them. */
function targetOf(call: CommandCall, name: string): { target: string; file: string } | null {
  try {
    const { address } = call.files.info(call.path(name));
    return { target: address === null ? WHOLE : `/${address.volume}`, file: name };
  } catch (error) {
    call.fail(`${inQuotes(name).replace(/^'([^']*)'$/, '$1')}: ${reasonOf(error)}`);
    return null;
  }
}

async function rowOf(call: CommandCall, { target, file }: { target: string; file: string }): Promise<Row> {
  const { limit, free } = call.room();
  const used = target === WHOLE ? limit - free : await bytesBelow(call, call.files.info(target));
  return { target, file, size: limit, used, avail: free };
}

async function bytesBelow(call: CommandCall, folder: FileStatus): Promise<number> {
  let sum = 0;
  for (const child of call.files.counted(folder.path)) {
    await call.turn();
    sum += child.kind === 'dir' ? await bytesBelow(call, child) : child.size;
  }
  return sum;
}

function unitOf(
  call: CommandCall,
  option: { key: string; value: string | null } | null,
  portable: boolean,
): { title: string; show: (bytes: number) => string } {
  const by = (size: number, title: string) => ({ title, show: (bytes: number) => String(Math.ceil(bytes / size)) });
  switch (option?.key) {
    case 'h':
      return { title: 'Size', show: (bytes) => humanSize(bytes) };
    case 'H':
      return { title: 'Size', show: (bytes) => humanSize(bytes, 1000) };
    case 'm':
      return by(1024 ** 2, '1M-blocks');
    case 'B': {
      const found = /^(\d*)([KMG]?)$/.exec(option.value ?? '');
      if (found === null || found[0] === '' || Number(found[1] || 1) === 0)
        call.end(`invalid --block-size argument '${option.value ?? ''}'`);
      return by(
        Number(found[1] || 1) * 1024 ** ' KMG'.indexOf(found[2] || ' '),
        `${found[1] || 1}${found[2] || 'B'}-blocks`,
      );
    }
    default:
      return by(1024, portable ? '1024-blocks' : '1K-blocks');
  }
}

function usualFields(withKind: boolean, inodes: boolean): string[] {
  const numbers = inodes ? ['itotal', 'iused', 'iavail', 'ipcent'] : ['size', 'used', 'avail', 'pcent'];
  return ['source', ...(withKind ? ['fstype'] : []), ...numbers, 'target'];
}

function outputFields(call: CommandCall, list: string): string[] {
  const fields = list === '' ? FIELDS : list.split(',');
  for (const field of fields) if (!FIELDS.includes(field)) call.usage(`option --output: field '${field}' unknown`);
  return fields;
}

function titleOf(field: string, size: string, short: boolean, portable: boolean): string {
  const titles: Readonly<Record<string, string>> = {
    source: 'Filesystem',
    fstype: 'Type',
    itotal: 'Inodes',
    iused: 'IUsed',
    iavail: 'IFree',
    ipcent: 'IUse%',
    size,
    used: 'Used',
    avail: short && !portable ? 'Avail' : 'Available',
    pcent: portable ? 'Capacity' : 'Use%',
    file: 'File',
    target: 'Mounted on',
  };
  return titles[field] ?? field;
}

/** A sandbox has no inodes of its own to count: `-`. */
function cellOf(field: string, row: Row, show: (bytes: number) => string, isTotal: boolean): string {
  switch (field) {
    case 'source':
      return isTotal ? 'total' : NAME;
    case 'fstype':
      return isTotal ? '-' : KIND;
    case 'size':
      return show(row.size);
    case 'used':
      return show(row.used);
    case 'avail':
      return show(row.avail);
    case 'pcent':
      return row.used + row.avail === 0 ? '-' : `${Math.ceil((100 * row.used) / (row.used + row.avail))}%`;
    case 'file':
      return row.file;
    case 'target':
      return row.target;
    default:
      return '-';
  }
}

function print(call: CommandCall, fields: readonly string[], lines: readonly string[][]): void {
  const widths = fields.map((field, at) => Math.max(WIDTHS[field] ?? 0, ...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, at) =>
      LEFT.has(fields[at] ?? '') ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
    call.print(`${cells.join(' ').trimEnd()}\n`);
  }
}
