/** The folder of one case, and what cases do in it. For tests. */
import { lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The call, what it must do, what is done, and what that gives: the code of an error, or the last value. */
export type PosixCase = [call: string, must: string, work: () => unknown, expected: unknown];

/** The longest name. */
export const LONGEST = 'x'.repeat(255);

let current = { folder: '', mount: '' };

/** Sets the folder of the next case, below a mount. */
export function useFolder(folder: string, mount: string): void {
  current = { folder, mount };
}

export const folder = (): string => current.folder;
export const mount = (): string => current.mount;
export const at = (...names: string[]): string => join(current.folder, ...names);
export const make = (name: string, bytes = ''): void => writeFileSync(at(name), bytes);

/** The last of what was done in this order. */
export const last = (...done: unknown[]): unknown => done.at(-1);

export const ctime = (name: string): bigint => lstatSync(at(name), { bigint: true }).ctimeNs;
export const mtime = (name: string): bigint => lstatSync(at(name), { bigint: true }).mtimeNs;

/** Whether a time of a file is later after some work. */
export function grows(name: string, read: (name: string) => bigint, work: () => unknown): boolean {
  const before = read(name);
  work();
  return read(name) > before;
}
