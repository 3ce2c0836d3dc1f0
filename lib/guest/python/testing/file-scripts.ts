/** Python programs that use files, and what CPython on Linux answered to each: output, exit code, what was left. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FileScript {
  title: string;
  source: string;
}

export interface ScriptAnswer {
  stdout: string;
  exitCode: number;
  /** A line for each file: kind, mode, name and target of a link; then the sum of each content. */
  tree: string;
}

/** A folder for each program, where it is run. */
export const CASE_FOLDER = '/workspace/case';
export const RECORDED = join(import.meta.dirname, 'file-scripts.json');

/** Run by a shell in the folder: what is there. */
export const TREE_COMMAND = `find . ! -name . ! -type d -printf '%y %m %p %l\\n' | LC_ALL=C sort; find . -mindepth 1 -type d -printf 'd %m %p\\n' | LC_ALL=C sort; find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2`;

/** The programs of the table, in its order. */
export function fileScripts(): FileScript[] {
  const text = readFileSync(join(import.meta.dirname, 'file-scripts.txt'), 'utf8');
  return text
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { title: part.slice(0, end), source: part.slice(end + 1) };
    });
}

/** What Linux answered, by title. */
export function recordedAnswers(): Record<string, ScriptAnswer> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, ScriptAnswer>;
}

/** The numbers of errors are WASI's here; their words and classes are the same. */
export function withoutNumbers(text: string): string {
  return text.replace(/\[Errno \d+\]/g, '[Errno N]');
}
