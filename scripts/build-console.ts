/** `npm run build`: bundles the code of the workers and builds the console, however new what is there is. */
import { runTool } from './run.ts';
import { bundleWorkers } from './worker-bundle.ts';

await bundleWorkers();
process.exit(runTool('next', ['build']) ? 0 : 1);
