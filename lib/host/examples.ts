/** The workbooks in `examples/`, each with the files that it works on. Read once, when somebody asks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseVfsPath, type VfsPath } from '../vfs/paths.ts';

export interface WorkbookExample {
  /** Name of its folder, and the id that its workbook is stored under. */
  id: string;
  /** Of `#+title:`. */
  title: string;
  /** Its first paragraph. */
  says: string;
  source: string;
  /** What its sandbox begins with, by path in the workspace. */
  files: readonly { path: VfsPath; content: Uint8Array }[];
}

const FOLDER = fileURLToPath(new URL('../../examples/', import.meta.url));
const SOURCE = 'workbook.org';
const FILES = 'workspace';

function filesOf(folder: string): WorkbookExample['files'] {
  const root = join(folder, FILES);
  return readdirSync(folder).includes(FILES)
    ? readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
        .map((file) => ({
          path: parseVfsPath(`/${relative(root, file).split(sep).join('/')}`),
          content: readFileSync(file),
        }))
    : [];
}

function readExample(id: string): WorkbookExample {
  const folder = join(FOLDER, id);
  const source = readFileSync(join(folder, SOURCE), 'utf8');
  const [, title = id] = /^#\+title:\s*(.+)$/m.exec(source) ?? [];
  const [, says = ''] = /^#\+title:.*\n\n((?:(?!\*).+\n)+)/m.exec(source) ?? [];
  return { id, title, says: says.trim().replace(/\s*\n/g, ' ').replaceAll('=', ''), source, files: filesOf(folder) };
}

let read: readonly WorkbookExample[] | null = null;

/** All examples, by id. */
export function readExamples(): readonly WorkbookExample[] {
  read ??= readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map(readExample);
  return read;
}
