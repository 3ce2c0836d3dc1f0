/** What the commands that begin with a dot reach of the shell. */
import type { EngineDatabase } from './engine-database.ts';
import type { RowMode, RowStyle } from './row-format.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

/** What is printed for a command that failed. */
export class DotCommandError extends Error {}

/** What the commands reach of the shell. */
export interface DotShell {
  readonly database: EngineDatabase;
  readonly files: WorkspaceFiles;
  /** The name of the open database. */
  readonly name: string;
  readonly style: RowStyle;
  /** Whether somebody said whether headers are shown. */
  headersSet: boolean;
  bails: boolean;
  echoes: boolean;
  countsChanges: boolean;
  /** Where output goes besides stdout: a file, until the next command when `once`. */
  target: { path: string; once: boolean; parts: string[] } | null;
  print(text: string): void;
  error(text: string): void;
  setMode(mode: RowMode): void;
  use(name: string, readOnly?: boolean): void;
  readText(path: string): string;
  readScript(path: string): void;
  endOutput(): void;
  absolute(path: string): string;
}
