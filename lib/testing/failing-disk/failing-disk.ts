/**
 * For tests: a disk that fails on request, for every process that uses it: a FUSE file system in a namespace of its
 * own. What SQLite reads and writes by itself fails there as well. Needs no privileges where the system lets users have
 * namespaces and /dev/fuse.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { holdNamespace } from '../namespace.ts';
import { programOf } from '../program.ts';
import type { Control, DiskFault } from './control.ts';

export interface FailingDisk {
  /** The mounted folder, as processes in the namespace see it. */
  folder: string;
  /** The same as everybody sees it, without any failure. */
  behind: string;
  /** A command that runs the given command where the disk is mounted. */
  within: readonly string[];
  /** Lets requests fail from now on; null: none. */
  fail(fault: DiskFault | null): void;
  /** Writes down the requests of paths that fit, from now on; null: none. */
  trace(pattern: string | null): void;
  /** The requests that were written down, or that failed, since the last `fail` or `trace`. */
  seen(): string[];
  failed(): string[];
  end(): Promise<void>;
}

export async function mountFailingDisk(): Promise<FailingDisk> {
  const base = mkdtempSync(join(tmpdir(), 'winterdock-failing-'));
  const [folder, behind] = [join(base, 'data'), join(base, 'behind')];
  for (const one of [folder, behind]) mkdirSync(one, { mode: 0o700 });
  const controlFile = join(base, 'control');
  const now: Control = { turn: 0, fault: null, traced: null };
  const tell = (change: Partial<Control>) => {
    for (const end of ['seen', 'failed']) rmSync(`${controlFile}.${end}`, { force: true });
    Object.assign(now, change, { turn: now.turn + 1 });
    writeFileSync(`${controlFile}.draft`, JSON.stringify(now));
    renameSync(`${controlFile}.draft`, controlFile);
  };
  const linesOf = (end: string) => {
    const path = `${controlFile}.${end}`;
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  };
  tell({});
  const program = programOf(fileURLToPath(new URL('./disk-process.ts', import.meta.url)));
  const options = 'fd=9,rootmode=40700,user_id=0,group_id=0,default_permissions,allow_other';
  const namespace = await holdNamespace(
    [
      'exec 9<>/dev/fuse',
      `mount -i -n -t fuse -o ${options} failing ${folder}`,
      `setpriv --pdeathsig KILL ${process.execPath} ${program} ${behind} ${controlFile} >${base}/log 2>&1 &`,
      'exec 9>&-',
      `test -d ${folder}/.`,
    ].join('\n'),
  );
  return {
    folder,
    behind,
    within: namespace.within,
    fail: (fault) => tell({ fault }),
    trace: (traced) => tell({ traced }),
    seen: () => linesOf('seen'),
    failed: () => linesOf('failed'),
    async end() {
      await namespace.end();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
