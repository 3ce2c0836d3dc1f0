/** `npm run check`: everything that can be said of the code without running it. */
import { ensureBuilt } from './build.ts';
import { runTool } from './run.ts';

// The build writes the route types that tsc reads.
ensureBuilt();
const failed = [
  ['biome', ['ci', '--error-on-warnings', '.']],
  ['tsc', ['--noEmit', '-p', '.']],
  ['knip', ['--no-progress']],
].filter(([tool, args]) => !runTool(tool as string, args as string[]));
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.map(([tool]) => tool).join(', ')}\n`);
  process.exit(1);
}
process.stdout.write('\nAll checks passed.\n');
