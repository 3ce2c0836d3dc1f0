/** What a `grep` is to do, and the sentence that ends one. */

/** A sentence that ends `grep`. */
export class GrepError extends Error {}

export interface GrepSettings {
  syntax: 'basic' | 'extended' | 'fixed' | 'perl';
  patterns: string[];
  ignoreCase: boolean;
  words: boolean;
  wholeLines: boolean;
  inverted: boolean;
  after: number;
  before: number;
  /** Whether context was asked for: groups of lines are then separated. */
  separator: string | null;
  maxCount: number;
  count: boolean;
  /** `matching`: only the names of files with a match; `other`: of those without. */
  list: 'matching' | 'other' | null;
  onlyMatches: boolean;
  quiet: boolean;
  silent: boolean;
  lineNumbers: boolean;
  byteOffsets: boolean;
  /** Null: as the number of files decides. */
  names: boolean | null;
  nullAfterName: boolean;
  nullLines: boolean;
  initialTab: boolean;
  color: boolean;
  label: string | null;
  binary: 'binary' | 'text' | 'without-match';
  recursive: 'r' | 'R' | null;
  directories: 'read' | 'skip' | 'recurse';
  excludedDirectories: string[];
  /** Whether a file is left out by its name. */
  skips(name: string, operand: boolean): boolean;
}
