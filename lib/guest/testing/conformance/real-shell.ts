/**
 * Runs an invocation in the machine's bash: in a root folder of its own, in which /workspace holds the tree and the
 * programs of the machine are read-only. Needs Linux, root and `unshare`; says so where something is missing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShellAnswer } from './answer.ts';
import { ROOT_MTIME, writeFolder } from './file-tree.ts';

const USER = 1000;
const TIMEOUT_MS = 120_000;
const MOUNTED = ['/usr', '/bin', '/lib', '/lib64', '/etc/alternatives', '/dev', '/proc'].filter((path) =>
  existsSync(path),
);
/** Tools whose answers are the reference only in their GNU version. */
const GNU_TOOLS = ['find', 'grep', 'sed', 'awk', 'ls', 'sort', 'tar', 'diff', 'patch'];
const ENVIRONMENT = {
  HOME: '/workspace',
  USER: 'sandbox',
  TERM: 'dumb',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  TZ: 'UTC',
  PATH: '/usr/bin:/bin',
};

/** Why the machine's shell cannot be the reference; null when it can. */
export function whyNoRealShell(): string | null {
  if (process.platform !== 'linux') return 'it is not Linux';
  if (process.getuid?.() !== 0) return 'making a root folder needs root';
  if (spawnSync('unshare', ['-m', 'true']).status !== 0) return '`unshare -m` does not work here';
  return null;
}

/** Which of the tools are not there in their GNU version. */
export function lackingTools(): string[] {
  return GNU_TOOLS.filter((tool) => !/GNU/.test(spawnSync(tool, ['--version'], { encoding: 'utf8' }).stdout ?? ''));
}

/** The versions of the reference, for the record. */
export function realVersions(): string[] {
  return ['bash', ...GNU_TOOLS].map(
    (tool) => execFileSync(tool, ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? '',
  );
}

export class RealShell {
  readonly #folder = mkdtempSync(join(tmpdir(), 'winterdock-shell-'));
  readonly #template = join(this.#folder, 'template');
  readonly #root = join(this.#folder, 'root');

  constructor() {
    mkdirSync(this.#template);
    writeFolder(this.#template);
    execFileSync('chown', ['-hR', `${USER}:${USER}`, this.#template]);
    for (const path of MOUNTED) mkdirSync(join(this.#root, path), { recursive: true });
    writeFileSync(
      join(this.#root, 'etc/passwd'),
      `root:x:0:0::/:/bin/bash\nuser:x:${USER}:${USER}::/workspace:/bin/bash\n`,
    );
    writeFileSync(join(this.#root, 'etc/group'), `root:x:0:\nuser:x:${USER}:\n`);
  }

  run(command: string): ShellAnswer {
    this.#renew();
    const mounts = MOUNTED.map((path) => `mount --bind ${path} ${join(this.#root, path)}`).join(' && ');
    const variables = Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
    const inside = 'cd /workspace && exec /bin/bash -c "$1" bash';
    const enter = `/usr/sbin/chroot --userspec=${USER}:${USER} --groups=${USER} ${this.#root} /usr/bin/env -i ${variables.join(' ')} /bin/bash -c '${inside}' - "$1"`;
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['-m', 'sh', '-c', `${mounts} && exec ${enter}`, '-', command],
      {
        input: '',
        timeout: TIMEOUT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return { stdout: stdout.toString('latin1'), stderr: stderr.toString('latin1'), exitCode: status ?? 137 };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #renew(): void {
    const [workspace, tmp] = [join(this.#root, 'workspace'), join(this.#root, 'tmp')];
    rmSync(workspace, { recursive: true, force: true });
    rmSync(tmp, { recursive: true, force: true });
    execFileSync('cp', ['-a', this.#template, workspace]);
    mkdirSync(tmp);
    chmodSync(tmp, 0o1777);
    chownSync(tmp, USER, USER);
    mkdirSync(join(this.#root, 'memory'), { recursive: true });
    chownSync(join(this.#root, 'memory'), USER, USER);
    utimesSync(workspace, ROOT_MTIME ?? 0, ROOT_MTIME ?? 0);
    utimesSync(this.#root, 0, 0);
  }
}
