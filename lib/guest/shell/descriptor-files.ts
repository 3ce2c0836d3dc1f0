/**
 * The open descriptors of the running shell as files: `/dev/fd/N`, `/proc/self/fd/N` and `/proc/$$/fd/N`. One that was
 * opened on a file is a link to it, as on Linux; another one is a file with what is left to read. Knows nothing of the
 * host's descriptors.
 */

import { textOfBytes } from '../../workers/protocol/byte-text.ts';
import { endlessDevice } from './file-content.ts';

/** What just-bash's interpreter holds, as far as its files depend on it. `fdPaths` is ours (bash-script-patches.ts). */
export interface ShellState {
  virtualPid: number;
  bashPid: number;
  /** What is left to read, a char a byte, or a word of the interpreter for an output. */
  fileDescriptors?: ReadonlyMap<number, string>;
  inputFds?: ReadonlySet<number>;
  fdPaths?: ReadonlyMap<number, string>;
  /** Four octal digits; absent for 0022. */
  umask?: string | undefined;
  /** What the running command would read, a char a byte. */
  input?: () => string;
  /** What stands behind `<(command)`, a char a byte. `content` is ours (bash-redirection-patches.ts). */
  processSubstitutions?: readonly { path: string; direction: string; content?: string }[];
  /** A device without an end of which a part was read. */
  endless?: string | undefined;
}

const STANDARD = ['/dev/stdin', '/dev/stdout', '/dev/stderr'];
const FOLDER = /^\/(?:dev\/fd|proc\/(self|\d{1,9})\/fd)(?:\/(\d{1,9}))?$/;

export class DescriptorFiles {
  #state: ShellState | null = null;

  /** The shell that runs now; null when none does. */
  get state(): ShellState | null {
    return this.#state;
  }

  set state(state: ShellState | null) {
    this.#state = state;
  }

  /** Where the link of a descriptor leads; null for any other path. */
  target(path: string): string | null {
    const number = this.#numberAt(path);
    return number === null ? null : (this.#state?.fdPaths?.get(number) ?? STANDARD[number] ?? null);
  }

  /** What the running command reads. */
  get input(): string {
    return textOfBytes(Buffer.from(this.#state?.input?.() ?? '', 'latin1'));
  }

  /** A part of a device without an end, which the shell is told of; null for any other path. */
  endless(path: string): Uint8Array | null {
    const part = endlessDevice(path);
    if (part !== null && this.#state !== null) this.#state.endless = path;
    return part;
  }

  /** What is left to read of a descriptor without a file; null for any other path. */
  content(path: string): string | null {
    const piped = this.#state?.processSubstitutions?.find((one) => one.path === path && one.direction === 'input');
    if (piped !== undefined) return textOfBytes(Buffer.from(piped.content ?? '', 'latin1'));
    const number = this.#numberAt(path);
    if (number === null || this.target(path) !== null) return null;
    const left = this.#state?.inputFds?.has(number) ? this.#state.fileDescriptors?.get(number) : undefined;
    return textOfBytes(Buffer.from(left ?? '', 'latin1'));
  }

  /** The names in a directory of descriptors, or above one; null for any other path. */
  list(path: string): readonly string[] | null {
    if (this.#state === null) return null;
    if (path === '/proc') return [String(this.#state.virtualPid), 'self'];
    if (path === '/proc/self' || path === `/proc/${this.#state.virtualPid}`) return ['fd'];
    const [whole, pid, number] = FOLDER.exec(path) ?? [];
    if (whole === undefined || number !== undefined || !this.#isOwn(pid)) return null;
    const open = [...STANDARD.keys(), ...(this.#state.fileDescriptors?.keys() ?? [])];
    return [...new Set(open)].toSorted((a, b) => a - b).map(String);
  }

  /** The number of an open descriptor. */
  #numberAt(path: string): number | null {
    if (!path.startsWith('/proc/') && !path.startsWith('/dev/fd/')) return null;
    const [, pid, digits] = FOLDER.exec(path) ?? [];
    if (digits === undefined || !this.#isOwn(pid)) return null;
    const number = Number(digits);
    return number < STANDARD.length || this.#state?.fileDescriptors?.has(number) ? number : null;
  }

  #isOwn(pid: string | undefined): boolean {
    if (this.#state === null) return false;
    return pid === undefined || pid === 'self' || [this.#state.virtualPid, this.#state.bashPid].includes(Number(pid));
  }
}
