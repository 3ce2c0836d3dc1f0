/** `npm run format [-- FILE…]`: formats files and applies every safe fix of the linter. */
import { ensurePeers } from './peers.ts';
import { runTool } from './run.ts';

const chosen = process.argv.slice(2);
ensurePeers();
process.exit(runTool('biome', ['check', '--write', ...(chosen.length > 0 ? chosen : ['.'])]) ? 0 : 1);
