/**
 * Fills a folder with a system of Debian by mmdebstrap, from the archives that this machine has its own packages from.
 * Knows nothing of where roots are kept.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { withoutSignalsUnlessStarted } from '../../base/unstarted.ts';

/** What nobody reads in a sandbox: translations and manuals. */
const LEFT_OUT = ['/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/doc/*/[!c]*'];
/** What an installation leaves that a running system does not need; and what keeps pip from a folder of its user. */
const REMOVED = [
  'rm -rf "$1"/var/cache/apt "$1"/var/lib/apt/lists "$1"/var/log "$1"/tmp/* "$1"/var/cache/debconf',
  'rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED "$1"/etc/machine-id "$1"/etc/resolv.conf "$1"/etc/hostname',
  'rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*',
];
/** A mount or a process of the build is nowhere else, and goes with it, whoever is killed. */
const APART = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child=KILL', '--'];
const TAIL_LINES = 5;

export interface DebianRoot {
  /** Empty or not there yet. Absolute. */
  folder: string;
  packages: readonly string[];
  /** With apt (the default), or with what a system cannot be without alone. */
  variant?: 'minbase' | 'essential';
  /** Called with each step, in words. */
  onProgress?(line: string): void;
  /** Ends the build: what it has made so far stays. */
  signal?: AbortSignal;
}

/** Why no root can be built here, in words; null when one can. */
export function cannotBuild(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'a root is built by root on Linux: the scripts of packages run in it as its root';
  if (!existsSync('/usr/bin/mmdebstrap')) return 'mmdebstrap is not installed (package mmdebstrap)';
  if (suite() === null) return 'this machine is no Debian, or names no release of it';
  if (archives().length === 0) return 'this machine has no archives of packages below /etc/apt';
  return null;
}

/** Builds it. Throws an Error with the last words of mmdebstrap. */
export async function buildDebian({ folder, packages, variant, onProgress, signal }: DebianRoot): Promise<void> {
  const problem = cannotBuild();
  if (problem !== null) throw new Error(problem);
  const options = [
    `--variant=${variant ?? 'minbase'}`,
    ...(packages.length === 0 ? [] : [`--include=${packages.join(',')}`]),
    ...LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`),
    ...REMOVED.map((command) => `--customize-hook=${command}`),
    ...(await proxies()).map((line) => `--aptopt=${line}`),
  ];
  const command = [...APART, 'mmdebstrap', ...options, suite() ?? '', folder, ...archives()];
  const [file = '', ...args] = command;
  const child = withoutSignalsUnlessStarted(
    spawn(file, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { NODE_ENV: 'production', PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', SOURCE_DATE_EPOCH: '0' },
    }),
  );
  const stop = () => void child.kill('SIGKILL');
  signal?.addEventListener('abort', stop);
  const tail: string[] = [];
  try {
    const exited = once(child, 'exit') as Promise<[number | null]>;
    exited.catch(() => {});
    for await (const line of createInterface({ input: child.stderr })) {
      const text = line.replace(/^[IWE]: /, '').trim();
      if (text === '' || /\.\.\.\d+%/.test(text)) continue;
      tail.push(text);
      if (line.startsWith('I: ')) onProgress?.(text);
    }
    const [code] = await exited;
    signal?.throwIfAborted();
    if (code !== 0) throw new Error(`mmdebstrap failed: ${tail.slice(-TAIL_LINES).join(' ')}`);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** The release of Debian that this machine has. */
function suite(): string | null {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    return /^ID="?debian"?$/m.test(text) ? (/^VERSION_CODENAME="?([a-z]+)"?$/m.exec(text)?.[1] ?? null) : null;
  } catch {
    return null;
  }
}

/** The files that name the archives of this machine's packages. */
function archives(): string[] {
  const below = existsSync('/etc/apt/sources.list.d') ? readdirSync('/etc/apt/sources.list.d') : [];
  const files = ['/etc/apt/sources.list', ...below.toSorted().map((name) => `/etc/apt/sources.list.d/${name}`)];
  return files.filter((file) => /\.(?:list|sources)$/.test(file) && /debian/.test(textOf(file)));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** How this machine's apt reaches its archives. */
async function proxies(): Promise<string[]> {
  const child = spawn('apt-config', ['dump'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    if (/^Acquire::https?::Proxy "./.test(line) || /^Acquire::Retries /.test(line)) lines.push(line);
  return lines;
}
