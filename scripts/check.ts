/** `npm run check`: everything that can be said of the code, and of what it installs, without running it. */
import { join } from 'node:path';
import { ROOT } from './build.ts';
import { MOST_MIB, verdict, weigh } from './install/weight.ts';
import { ensurePeers, FRAMEWORKS } from './peers.ts';
import { runTool, startTool } from './run.ts';

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
ensurePeers(FRAMEWORKS);
// tsc and knip read the types of the routes.
if (!runTool('next', ['typegen'])) process.exit(1);
// Side by side; the outputs are printed one after the other.
const tools = {
  biome: startTool('biome', ['ci', '--error-on-warnings', '.']),
  tsc: startTool('tsc', ['--noEmit', '-p', '.']),
  // Apart, so that the rest is checked and built where no framework is installed.
  frameworks: startTool('tsc', ['--noEmit', '-p', 'testing/frameworks']),
  knip: startTool('knip', ['--no-progress']),
};
const failed = installFits() ? [] : ['install'];
for (const [name, tool] of Object.entries(tools)) {
  tool.show();
  if (!(await tool.passed)) failed.push(name);
}
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exit(1);
}
process.stdout.write('\nAll checks passed.\n');
