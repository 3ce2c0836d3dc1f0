/** The plan of a `find`: its paths, its links and its expression. Types, and what they share. */
import type { FileStatus } from '../command-files.ts';

export interface FindFile {
  /** As printed. */
  path: string;
  /** The argument under which it was found. */
  root: string;
  depth: number;
  info: FileStatus;
  /** The path by which it was reached, with its own link not resolved. */
  absolute: string;
}

/** A sentence that ends `find`. */
export class FindError extends Error {}

export type FindTest = (file: FindFile) => boolean;

export type FindAction =
  | { action: 'print' | 'print0' | 'delete' | 'prune' | 'quit' | 'ls' }
  | { action: 'printf'; format: string }
  | { action: 'write'; format: string | null; end: string; file: string }
  | { action: 'exec'; command: string[]; many: boolean; inDirectory: boolean; asks: boolean };

export type FindNode =
  | { kind: 'test'; test: FindTest }
  | { kind: 'act'; act: FindAction }
  | { kind: 'not'; node: FindNode }
  | { kind: 'and' | 'or' | 'list'; left: FindNode; right: FindNode };

export interface FindPlan {
  paths: string[];
  /** P: links are not followed; H: those of the arguments are; L: all are. */
  links: 'P' | 'H' | 'L';
  maxDepth: number;
  minDepth: number;
  depthFirst: boolean;
  node: FindNode;
}

/** The last part of a path, as `find` names it. */
export function baseName(path: string): string {
  const bare = path.replace(/(?<=.)\/+$/, '');
  return bare === '/' ? bare : bare.slice(bare.lastIndexOf('/') + 1);
}
