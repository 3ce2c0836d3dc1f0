/**
 * Builds the console when its build is missing or older than its sources. Knows nothing of what it builds but where it
 * lies.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const SOURCES = [
  'app',
  'components',
  'lib',
  'public',
  'instrumentation.ts',
  'instrumentation-node.ts',
  'instrumentation-client.ts',
  'next.config.ts',
  'postcss.config.mjs',
  'package-lock.json',
  'tsconfig.json',
];

function newest(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Whether there is a build at least as new as every source of it. */
export function isBuilt(): boolean {
  const marker = join(ROOT, '.next', 'BUILD_ID');
  if (!existsSync(marker)) return false;
  return statSync(marker).mtimeMs >= Math.max(...SOURCES.map((source) => newest(join(ROOT, source))));
}

/** Builds when needed. Throws when the build fails. */
export function ensureBuilt(): void {
  if (isBuilt()) return;
  process.stderr.write('Building the console: a minute or two, once per change of its sources…\n');
  const build = spawnSync(process.execPath, [join(ROOT, 'node_modules', 'next', 'dist', 'bin', 'next'), 'build'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' },
  });
  if (build.status !== 0) {
    process.stderr.write(build.stdout + build.stderr);
    throw new Error('The console did not build.');
  }
}
