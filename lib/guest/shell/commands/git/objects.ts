/** The formats of commits, trees and tags. Pure. */
import { fatal } from './git-error.ts';
import { comparePaths, isForbidden } from './index-file.ts';

export interface CommitPerson {
  name: string;
  email: string;
  seconds: number;
  /** As in `+0130`. */
  zone: string;
}

export interface CommitObject {
  oid: string;
  tree: string;
  parents: string[];
  author: CommitPerson;
  committer: CommitPerson;
  message: string;
}

export interface TreeEntry {
  mode: number;
  name: string;
  oid: string;
}

const DIRECTORY = 0o040000;
const HASH_BYTES = 20;
const NOBODY: CommitPerson = { name: '', email: '', seconds: 0, zone: '+0000' };

export function formatPerson({ name, email, seconds, zone }: CommitPerson): string {
  return `${name} <${email}> ${seconds} ${zone}`;
}

export function parsePerson(text: string): CommitPerson {
  const [, name = '', email = '', seconds = '0', zone = '+0000'] =
    /^(.*?) ?<([^>]*)> ?(-?\d+)? ?([+-]\d{4})?$/.exec(text) ?? [];
  return { name, email, seconds: Number(seconds), zone };
}

/** The header's fields and the text after them. */
function headersOf(content: Buffer): { fields: [key: string, value: string][]; text: string } {
  const whole = content.toString('utf8');
  const end = whole.indexOf('\n\n');
  const head = end < 0 ? whole : whole.slice(0, end);
  const fields = head
    .split('\n')
    .filter((line) => !line.startsWith(' '))
    .map((line): [string, string] => {
      const space = line.indexOf(' ');
      return [line.slice(0, space), line.slice(space + 1)];
    });
  return { fields, text: end < 0 ? '' : whole.slice(end + 2) };
}

export function parseCommit(oid: string, content: Buffer): CommitObject {
  const { fields, text } = headersOf(content);
  const first = (key: string) => fields.find(([name]) => name === key)?.[1];
  const tree = first('tree');
  if (tree === undefined) throw fatal(`bad commit ${oid}`);
  return {
    oid,
    tree,
    parents: fields.filter(([name]) => name === 'parent').map(([, value]) => value),
    author: parsePerson(first('author') ?? '') ?? NOBODY,
    committer: parsePerson(first('committer') ?? '') ?? NOBODY,
    message: text,
  };
}

export function formatCommit(commit: Omit<CommitObject, 'oid'>): Buffer {
  return Buffer.from(
    [
      `tree ${commit.tree}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      `author ${formatPerson(commit.author)}`,
      `committer ${formatPerson(commit.committer)}`,
      '',
      commit.message,
    ].join('\n'),
  );
}

export interface TagObject {
  object: string;
  type: string;
  name: string;
  tagger: CommitPerson;
  message: string;
}

export function parseTag(content: Buffer): TagObject {
  const { fields, text } = headersOf(content);
  const first = (key: string) => fields.find(([name]) => name === key)?.[1] ?? '';
  return {
    object: first('object'),
    type: first('type'),
    name: first('tag'),
    tagger: parsePerson(first('tagger')),
    message: text,
  };
}

export function formatTag({ object, type, name, tagger, message }: TagObject): Buffer {
  return Buffer.from(`object ${object}\ntype ${type}\ntag ${name}\ntagger ${formatPerson(tagger)}\n\n${message}`);
}

/** Throws for names that would lead out of the work tree. */
export function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + HASH_BYTES >= content.length + 1) throw fatal('bad tree object');
    const name = content.toString('utf8', space + 1, end);
    if (isForbidden(name) || name.includes('/')) throw fatal(`invalid path '${name}' in a tree`);
    const mode = Number.parseInt(content.toString('latin1', at, space), 8);
    entries.push({ mode, name, oid: content.toString('hex', end + 1, end + 1 + HASH_BYTES) });
    at = end + 1 + HASH_BYTES;
  }
  return entries;
}

/** Sorts as git does: the name of a folder as if it ended with a slash. */
export function formatTree(entries: readonly TreeEntry[]): Buffer {
  const key = ({ mode, name }: TreeEntry) => (mode === DIRECTORY ? `${name}/` : name);
  const parts = entries
    .toSorted((a, b) => comparePaths(key(a), key(b)))
    .flatMap(({ mode, name, oid }) => [Buffer.from(`${mode.toString(8)} ${name}\0`), Buffer.from(oid, 'hex')]);
  return Buffer.concat(parts);
}
