/** What the processes that tests start have in their environment. Knows nothing of the tests. */
import { join } from 'node:path';
import { ROOT } from './build.ts';

const cache = (name: string) => join(ROOT, 'node_modules', '.cache', name);

export const TEST_ENVIRONMENT = {
  // They share compiled code, as they do under one server.
  NODE_COMPILE_CACHE: cache('winterdock'),
  WB_CACHE: cache('winterdock-workers'),
  // Without rehearsals a worker that waits costs a third.
  WB_TEST_REHEARSALS: '0',
};
