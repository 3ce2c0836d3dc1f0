/** Before the browser tests: the build that their servers serve, and the servers. */
import { ensureBuilt } from '../scripts/build.ts';
import { ensureTestBundle } from '../scripts/test-bundle.ts';

export default async function setUp(): Promise<void> {
  ensureBuilt();
  await ensureTestBundle();
}
