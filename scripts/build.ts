/**
 * Builds the console and the bundle of the workers when one is missing or older than its sources. Knows nothing of what
 * it builds but where it lies.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentBundle } from '../lib/base/bundled.ts';

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

/** Bundles the workers' code when needed. Without a bundle they load the sources, so a failure is a note. */
export function ensureWorkerBundle(): void {
  if (currentBundle({ tools: true }) !== null) return;
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'worker-bundle.ts')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) process.stderr.write(`The workers start from their sources, which takes longer: ${stderr}\n`);
}

/** Set for processes that run beside a build: the path of a file that is there once the build has ended. */
export const BUILD_ENDED = 'WB_TEST_BUILD_ENDED';
/** Its content when the build is good. */
export const BUILD_PASSED = 'passed';
const LOOK_MS = 100;
const MAX_BUILD_MS = 600_000;

/** Blocks until the build that runs beside this process has ended. Throws when that one failed, or takes too long. */
function awaitBuild(ended: string): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; !existsSync(ended) && waited < MAX_BUILD_MS; waited += LOOK_MS) {
    Atomics.wait(sleeper, 0, 0, LOOK_MS);
  }
  if (readFileSync(ended, 'utf8') !== BUILD_PASSED) throw new Error('The console did not build.');
}

/** Builds what is needed, or waits for the build that runs beside. Throws when the console does not build. */
export function ensureBuilt(): void {
  ensureWorkerBundle();
  const ended = process.env[BUILD_ENDED];
  if (ended !== undefined) awaitBuild(ended);
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
