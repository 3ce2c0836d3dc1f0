/** `npm run check`: everything that can be said of the code, and of what it installs, without running it. */
import { join } from 'node:path';
import { ensureBuilt, ROOT } from './build.ts';
import { MOST_MIB, verdict, weigh } from './install/weight.ts';
import { ensurePeers } from './peers.ts';
import { runTool } from './run.ts';

/**
 * Whether `npm ci` brought no more than it may. The bar is of the platform that it was measured on; others have other
 * binaries.
 */
function installFits(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return true;
  const { fits, line } = verdict(weigh(join(ROOT, 'node_modules')), MOST_MIB);
  process.stdout.write(`\n> install\n${line}\n`);
  return fits;
}

ensurePeers();
// The build writes the route types that tsc reads.
ensureBuilt();
const checks: [name: string, passes: () => boolean][] = [
  ['install', installFits],
  ['biome', () => runTool('biome', ['ci', '--error-on-warnings', '.'])],
  ['tsc', () => runTool('tsc', ['--noEmit', '-p', '.'])],
  ['knip', () => runTool('knip', ['--no-progress'])],
];
const failed = checks.filter(([, passes]) => !passes()).map(([name]) => name);
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exit(1);
}
process.stdout.write('\nAll checks passed.\n');
