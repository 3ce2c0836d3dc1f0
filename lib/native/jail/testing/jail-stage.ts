/** A jail for tests, over the machine's own `/usr`, and the reason why there is none. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { Jail } from '../jail.ts';
import { JailGroups, type JailLimits } from '../jail-groups.ts';
import { nativeSupport } from '../support.ts';

const MIB = 1024 * 1024;
const isRoot = process.getuid?.() === 0;
/** Of the range of sandboxes, and of this process's own. */
const uid = 0x7000_0000 + 1 + (process.pid % 100_000);
export const JAIL_USER = isRoot ? { uid, gid: uid } : null;

/** A jail needs everything but the file system. */
const missing = (await nativeSupport(JAIL_USER)).filter(({ part }) => part !== 'fuse');

/** Why no jail is built here; null when it is. */
export const NO_JAIL =
  missing.length === 0 ? null : missing.map(({ part, why }) => `${part.replaceAll('_', ' ')} (${why})`).join('; ');

const opened = JailGroups.open();

/** Says once in a file that its jails were not built. */
export function saysWhyNot(file: string): void {
  if (NO_JAIL !== null) process.stdout.write(`Not run: ${file}, which needs ${NO_JAIL}.\n`);
}

export const LIMITS: JailLimits = { memoryBytes: 256 * MIB, processes: 200, processors: 2 };
/** The variables of a command. */
export const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/workspace', LANG: 'C.UTF-8' };

let made = 0;

export interface StagedJail {
  jail: Jail;
  /** The folder outside that holds `workspace`, `memory` and `tmp`. */
  outside: string;
  /** Runs a script of bash, and collects what it prints. */
  bash(script: string, options?: Partial<Parameters<Jail['run']>[0]>): Promise<Ran>;
}

export interface Ran {
  exitCode: number | null;
  signal: string | null;
  ended: string;
  stdout: string;
  stderr: string;
}

/** Opens jails, and closes them at the end of the file. */
export function jailStage() {
  const folders: string[] = [];
  const jails: Jail[] = [];
  afterAll(async () => {
    await Promise.all(jails.map((jail) => jail.close()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  const groups = (): JailGroups => {
    if (opened.groups === null) throw new Error(opened.missing);
    return opened.groups;
  };
  return {
    groups,
    async open(limits: Partial<JailLimits> = {}): Promise<StagedJail> {
      made += 1;
      const outside = mkdtempSync(join(tmpdir(), 'winterdock-jail-'));
      folders.push(outside);
      chmodSync(outside, 0o711);
      const at = (name: string) => {
        const path = join(outside, name);
        mkdirSync(path);
        if (JAIL_USER !== null) chownSync(path, JAIL_USER.uid, JAIL_USER.gid);
        return path;
      };
      const spec = {
        id: `test-${made}`,
        root: '/',
        folders: { workspace: at('workspace'), memory: at('memory'), tmp: at('tmp') },
        user: JAIL_USER,
        sharedMemoryBytes: 16 * MIB,
      };
      const jail = await Jail.open(spec, groups(), { ...LIMITS, ...limits });
      jails.push(jail);
      return { jail, outside, bash: (script, options) => bashIn(jail, script, options) };
    },
  };
}

async function bashIn(jail: Jail, script: string, options: Partial<Parameters<Jail['run']>[0]> = {}): Promise<Ran> {
  const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const result = await jail.run({
    argv: ['/bin/bash', '-c', script],
    cwd: '/workspace',
    env: ENV,
    onOutput: (stream, bytes) => void printed[stream].push(Buffer.from(bytes)),
    ...options,
  });
  const textOf = (stream: 'stdout' | 'stderr') => Buffer.concat(printed[stream]).toString();
  return { ...result, stdout: textOf('stdout'), stderr: textOf('stderr') };
}
