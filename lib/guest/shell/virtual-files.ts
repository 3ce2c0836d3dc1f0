/**
 * The virtual directories around the three volumes: `/bin`, `/usr/bin`, `/dev`, and two that no listing of `/` shows:
 * `/etc` with `os-release`, and `/proc` with the descriptors of the shell. Read-only; shows nothing of the host.
 */
import type { FsStat } from 'just-bash';
import { DescriptorFiles } from './descriptor-files.ts';

const EXECUTABLE = 0o755;
const DEVICE = 0o666;
const LINK = 0o777;
const READABLE = 0o644;
/** What programs ask of a system. */
const SYSTEM_FILES: Readonly<Record<string, string>> = {
  '/etc/os-release': 'PRETTY_NAME="Winterdock sandbox"\nNAME="Winterdock sandbox"\nID=winterdock\n',
};
const DEVICES = ['null', 'zero', 'random', 'urandom', 'stdin', 'stdout', 'stderr', 'full'];

export class VirtualFiles {
  readonly descriptors = new DescriptorFiles();
  /** Names of the children by directory. */
  readonly #directories: ReadonlyMap<string, readonly string[]>;
  readonly #files = new Map<string, { content: string; mode: number }>();

  /** `commands` appear in `/bin` and `/usr/bin`; `roots` are the other directories of `/`. */
  constructor(commands: readonly string[], roots: readonly string[]) {
    const names = [...commands].sort();
    // The shell finds the commands that stand for parts of its own syntax, and nobody lists them.
    const shown = names.filter((name) => !name.startsWith('__'));
    this.#directories = new Map([
      ['/', ['bin', 'dev', 'usr', ...roots].sort()],
      ['/etc', Object.keys(SYSTEM_FILES).map((path) => path.slice('/etc/'.length))],
      ['/bin', shown],
      ['/usr', ['bin']],
      ['/usr/bin', shown],
      ['/dev', [...DEVICES].sort()],
    ]);
    for (const name of names) {
      const file = { content: `#!/bin/sh\n# ${name} is built into the shell\n`, mode: EXECUTABLE };
      this.#files.set(`/bin/${name}`, file);
      this.#files.set(`/usr/bin/${name}`, file);
    }
    for (const [path, content] of Object.entries(SYSTEM_FILES)) this.#files.set(path, { content, mode: READABLE });
    for (const name of DEVICES) this.#files.set(`/dev/${name}`, { content: '', mode: DEVICE });
  }

  /** The names in a directory; null for anything else. Expects a normalised path. */
  list(path: string): readonly string[] | null {
    return this.#directories.get(path) ?? this.descriptors.list(path);
  }

  /** The content of a file; null for anything else. */
  read(path: string): string | null {
    if (path === '/dev/stdin') return this.descriptors.input;
    return this.#files.get(path)?.content ?? this.descriptors.content(path);
  }

  /** Null when there is no such path. */
  stat(path: string): FsStat | null {
    const file = this.#files.get(path) ?? this.#descriptor(path);
    if (!file && this.list(path) === null) return null;
    const isSymbolicLink = this.descriptors.target(path) !== null;
    return {
      isFile: file !== undefined && !isSymbolicLink,
      isDirectory: file === undefined,
      isSymbolicLink,
      mode: file?.mode ?? EXECUTABLE,
      size: file?.content.length ?? 0,
      mtime: new Date(0),
      identity: path,
    };
  }

  #descriptor(path: string): { content: string; mode: number } | undefined {
    const target = this.descriptors.target(path);
    if (target !== null) return { content: target, mode: LINK };
    const content = this.descriptors.content(path);
    return content === null ? undefined : { content, mode: DEVICE };
  }
}
