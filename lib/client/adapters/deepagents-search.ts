/** Searching names and contents by the shell's tools: whole, literal, and whatever names and texts hold. */

import { HOME } from '../sandbox/paths.ts';
import type { CommandOptions, Sandbox } from '../sandbox.ts';
import type { DeepFileInfo, DeepMatches } from './deepagents-types.ts';
import { globMatcher } from './glob.ts';

/** What an agent means by the root: `/bin` and the like hold nothing of its own. */
const VOLUMES = '/workspace /memory /tmp';

/** How many files a glob answers with. */
const MOST_FILES = 10_000;

type Limits = Pick<CommandOptions, 'signal' | 'timeoutMs'>;

const rootsOf = (path: string): string => (path === '/' ? VOLUMES : '"$ROOT"');

/** The places of a literal text. `glob`: of a name, or of a path when it has a slash. */
export async function grepFiles(
  box: Sandbox,
  { pattern, path, glob, most }: { pattern: string; path: string; glob: string | null; most: number | null },
  limits: Limits,
): Promise<DeepMatches> {
  const { stdout, stderr, exitCode, truncated, timedOut } = await box.commands.run(
    `grep -rHnFIZ -e "$TEXT" -- ${rootsOf(path)}`,
    { ...limits, cwd: HOME, env: { TEXT: pattern, ROOT: path } },
  );
  if (exitCode > 1 && stdout === '') return { error: stderr.trim() || `grep ended with exit code ${exitCode}` };
  const isWanted = glob === null || glob === '' ? null : globMatcher(glob);
  const base = path === '/' ? 1 : path.length + 1;
  const ways = (file: string) => [
    file,
    file.slice(base),
    glob?.includes('/') ? '' : file.slice(file.lastIndexOf('/') + 1),
  ];
  const fits = (file: string) => isWanted === null || ways(file).some(isWanted);
  const matches: NonNullable<DeepMatches['matches']> = [];
  // A name ends with NUL and may hold anything else; a match is one line. Sticky: what is cut at the end is left.
  for (const [, file = '', line = '', text = ''] of stdout.matchAll(/([^\0]+)\0(\d+):(.*)(?:\n|$)/gy)) {
    if (fits(file)) matches.push({ path: file, line: Number(line), text });
  }
  const kept = most === null ? matches : matches.slice(0, most);
  return kept.length < matches.length || truncated || timedOut ? { matches: kept, truncated: true } : { matches: kept };
}

/** The files whose paths fit a pattern, relative to a folder or whole. */
export async function globFiles(
  box: Sandbox,
  { pattern, path }: { pattern: string; path: string },
  limits: Limits,
): Promise<{ error?: string; files?: DeepFileInfo[]; truncated?: boolean }> {
  const { stdout, stderr, truncated, timedOut } = await box.commands.run(
    `find ${rootsOf(path)} -type f -printf '%s\\t%T@\\t%p\\0'`,
    { ...limits, cwd: HOME, env: { ROOT: path } },
  );
  if (stdout === '' && stderr !== '') return { error: stderr.trim() };
  const isWanted = globMatcher(pattern);
  const base = path === '/' ? '/' : `${path}/`;
  const files: DeepFileInfo[] = [];
  for (const [, size = '', seconds = '', file = ''] of stdout.matchAll(/(\d+)\t([\d.]+)\t([^\0]+)\0/gy)) {
    if (!isWanted(pattern.startsWith('/') ? file : file.slice(base.length))) continue;
    const modified = new Date(Number(seconds) * 1000).toISOString();
    files.push({ path: file, is_dir: false, size: Number(size), modified_at: modified });
  }
  const kept = files.slice(0, MOST_FILES);
  return { files: kept, truncated: kept.length < files.length || truncated || timedOut };
}
