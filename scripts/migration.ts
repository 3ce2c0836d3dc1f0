/** `npm run migration -- --name NAME`: writes the migration from the last one to the present db/schema.ts. */
import { ensurePeers } from './peers.ts';
import { runTool } from './run.ts';

ensurePeers();
process.exit(
  runTool('drizzle-kit', ['generate', '--config', 'db/drizzle.config.ts', ...process.argv.slice(2)]) ? 0 : 1,
);
