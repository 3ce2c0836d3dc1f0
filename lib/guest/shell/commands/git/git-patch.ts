/** Reads a patch as `git diff` writes it, or a plain unified one. Pure: texts are bytes, one char each. */
import { type FilePatch, type Hunk, parsePatch } from '../diff/patch-text.ts';
import { GitError, unsupported } from './git-error.ts';

export interface GitFilePatch {
  /**
   * Null for a file that is created. From the root of the repository, or from the current directory where
   * `isPlain`.
   */
  from: string | null;
  /** Null for a file that is removed. */
  to: string | null;
  oldMode: number | null;
  newMode: number | null;
  /** The file that it comes from stays. */
  isCopy: boolean;
  /** Without the headers of git. */
  isPlain: boolean;
  hunks: Hunk[];
}

const SECTION = /^diff --git .*$/m;
const NAMED: Readonly<Record<string, string>> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** `strip`: leading folders that are taken off each name. Throws for a patch that is damaged, or binary. */
export function parseGitPatch(text: string, strip: number): GitFilePatch[] {
  if (!SECTION.test(text)) return parsePatch(text).map((one) => plainPatch(one, strip));
  return text
    .split(/^(?=diff --git )/m)
    .filter((section) => section.startsWith('diff --git '))
    .map((section) => gitSection(section, strip));
}

function plainPatch({ oldName, newName, hunks }: FilePatch, strip: number): GitFilePatch {
  for (const hunk of hunks) requireWhole(hunk);
  const [from, to] = [oldName ?? '/dev/null', newName ?? '/dev/null'].map((name) =>
    name === '/dev/null' ? null : stripped(decoded(name), strip),
  );
  // Both sides are one file, though one may have been compared under another name.
  const name = to ?? from ?? null;
  return {
    from: from === null ? null : name,
    to: to === null ? null : name,
    oldMode: null,
    newMode: null,
    isCopy: false,
    isPlain: true,
    hunks,
  };
}

function gitSection(section: string, strip: number): GitFilePatch {
  const start = section.search(/^@@ /m);
  const head = (start < 0 ? section : section.slice(0, start)).split('\n');
  const value = (key: string) => head.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
  if (head.some((line) => line.startsWith('GIT binary patch') || line.startsWith('Binary files ')))
    throw unsupported('a patch of a binary file is');
  const mode = (text: string | undefined) => (text === undefined ? null : Number.parseInt(text, 8));
  const [newFile, deleted] = [mode(value('new file mode')), mode(value('deleted file mode'))];
  const moved = value('rename from') ?? value('copy from');
  const movedTo = value('rename to') ?? value('copy to');
  const both = nameOfBoth(head[0]?.slice('diff --git '.length) ?? '', strip);
  const side = (key: '---' | '+++') => {
    const name = value(key)?.replace(/\t.*$/, '');
    return name === undefined || name === '/dev/null' ? both : stripped(decoded(name), strip);
  };
  const from = moved === undefined ? side('---') : stripped(decoded(moved), strip - 1);
  const to = movedTo === undefined ? side('+++') : stripped(decoded(movedTo), strip - 1);
  if (from === null || to === null)
    throw new GitError(
      `error: git diff header lacks filename information when removing ${strip} leading pathname component${strip === 1 ? '' : 's'}`,
      128,
    );
  const hunks = start < 0 ? [] : (parsePatch(`--- a\n+++ b\n${section.slice(start)}`)[0]?.hunks ?? []);
  for (const hunk of hunks) requireWhole(hunk);
  const kept = mode(/^index [0-9a-f]+\.\.[0-9a-f]+ (\d{6})$/m.exec(head.join('\n'))?.[1]);
  return {
    from: newFile === null ? from : null,
    to: deleted === null ? to : null,
    oldMode: mode(value('old mode')) ?? deleted ?? kept,
    newMode: mode(value('new mode')) ?? newFile ?? kept,
    isCopy: value('copy from') !== undefined,
    isPlain: false,
    hunks,
  };
}

/** A hunk that ends before its head says so. */
function requireWhole({ text, before, after }: Hunk): void {
  const [, old = '1', fresh = '1'] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text) ?? [];
  if (before.length !== Number(old) || after.length !== Number(fresh))
    throw new GitError(`error: corrupt patch: ${text.split('\n')[0]}`, 128);
}

/** The name of `a/NAME b/NAME`; null where the two differ. */
function nameOfBoth(text: string, strip: number): string | null {
  const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(text);
  const middle = (text.length - 1) / 2;
  const [left, right] = quoted
    ? [decoded(quoted[1] ?? ''), decoded(quoted[2] ?? '')]
    : [decoded(text.slice(0, middle)), decoded(text.slice(middle + 1))];
  const name = stripped(left, strip);
  return name !== null && name === stripped(right, strip) ? name : null;
}

/** Null when the name has no more than these folders. */
function stripped(name: string, strip: number): string | null {
  const parts = name.split(/\/+/);
  return parts.length > strip ? parts.slice(Math.max(0, strip)).join('/') : null;
}

/** A name as git quotes it, or as it is; its bytes as text. */
function decoded(name: string): string {
  const inner = /^"(.*)"$/s.exec(name)?.[1];
  const bytes =
    inner === undefined
      ? name
      : inner.replaceAll(/\\(?:([0-7]{3})|(.))/gs, (_, octal?: string, one = '') =>
          octal === undefined ? (NAMED[one] ?? one) : String.fromCharCode(Number.parseInt(octal, 8)),
        );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
