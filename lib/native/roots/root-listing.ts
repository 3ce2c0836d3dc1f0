/**
 * What a root file system holds, one line for each entry in one order: the same on every machine for the same contents,
 * whatever their times are. Its hash is the version of a root. Knows nothing of where roots are kept.
 */
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export interface RootListing {
  /** One for each entry: kind, permissions, owner, group, what it holds, and its name as a JSON text of its bytes. */
  readonly lines: readonly string[];
  /** Of the lines. */
  readonly sha256: string;
  /** Of the contents of files, each once. */
  readonly bytes: number;
}

const PERMISSIONS = 0o7777;

/** Reads a whole root (absolute). Throws what the disk says. */
export async function listRoot(folder: string): Promise<RootListing> {
  const lines: string[] = [];
  let bytes = 0;
  const counted = new Set<number>();
  const walk = async (path: Buffer, name: Buffer): Promise<void> => {
    const stat = lstatSync(path);
    lines.push(`${await describe(path, stat)} ${JSON.stringify(name.toString('latin1'))}`);
    if (stat.isFile() && !counted.has(stat.ino)) {
      counted.add(stat.ino);
      bytes += stat.size;
    }
    if (!stat.isDirectory()) return;
    for (const entry of readdirSync(path, { encoding: 'buffer' }).toSorted(Buffer.compare))
      await walk(below(path, entry), below(name, entry));
  };
  await walk(Buffer.from(folder), Buffer.from('.'));
  const sha256 = createHash('sha256').update(lines.join('\n')).digest('hex');
  return { lines, sha256, bytes };
}

/** The names that two listings do not have alike, at most `most` of them. */
export function differences(one: readonly string[], other: readonly string[], most: number): string[] {
  const [first, second] = [new Set(one), new Set(other)];
  const changed = [...one.filter((line) => !second.has(line)), ...other.filter((line) => !first.has(line))];
  const names = changed.map((line) => Buffer.from(JSON.parse(line.slice(line.indexOf(' "') + 1)), 'latin1').toString());
  return [...new Set(names)].slice(0, most);
}

function below(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name]);
}

async function describe(path: Buffer, stat: Stats): Promise<string> {
  const rights = `${(stat.mode & PERMISSIONS).toString(8)} ${stat.uid} ${stat.gid}`;
  if (stat.isDirectory()) return `folder ${rights} -`;
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(path, { encoding: 'buffer' });
    return `link ${rights} ${createHash('sha256').update(target).digest('hex')}`;
  }
  if (!stat.isFile()) return `other ${rights} ${stat.rdev}`;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return `file ${rights} ${hash.digest('hex')}`;
}
