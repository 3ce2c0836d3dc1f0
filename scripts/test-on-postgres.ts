/**
 * `npm run test:postgres`: the tests of engine and API with their registry on Postgres, all of them, and where it is
 * installed those that `npm test` chooses and the driver's own on Debian's PostgreSQL 15 too. Arguments go to Vitest.
 * `WB_TEST_POSTGRES_BIN` names the folder of another server's programs, for everything.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureWorkerBundle } from './build.ts';
import { ensurePeers } from './peers.ts';
import { runTool } from './run.ts';
import { ensureTestBundle } from './test-bundle.ts';
import { CHOSEN, DRIVER_FOLDERS } from './test-postgres.ts';
import { useMemoryForTmp } from './test-tmp.ts';

/** Where Debian's package puts the programs of the oldest version that is taken. */
const OLDEST = '/usr/lib/postgresql/15/bin';

useMemoryForTmp();
ensurePeers();
ensureWorkerBundle();
await ensureTestBundle();
const chosen = process.argv.slice(2);
const onPostgres = { WB_TEST_REGISTRY: 'postgres' };
const results = [runTool('vitest', ['run', ...chosen], onPostgres)];
let notRun = '';
if (chosen.length === 0 && process.env.WB_TEST_POSTGRES_BIN === undefined) {
  const oldest = { WB_TEST_POSTGRES_BIN: OLDEST };
  if (existsSync(join(OLDEST, 'postgres'))) {
    results.push(runTool('vitest', ['run', ...DRIVER_FOLDERS], oldest));
    results.push(runTool('vitest', ['run', ...CHOSEN], { ...oldest, ...onPostgres }));
  } else {
    notRun = `Not run on PostgreSQL 15, which is not installed: there is no ${OLDEST}.\n`;
  }
}
process.stdout.write(notRun);
process.exit(results.every(Boolean) ? 0 : 1);
