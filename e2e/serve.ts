/** Starts the server that the browser tests visit, and ends it after the last one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnServer } from '../lib/testing/process.ts';
import { ensureBuilt } from '../scripts/build.ts';
import { SERVER_VARIABLE } from './visited.ts';

export default async function serve(): Promise<() => Promise<void>> {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-browser-'));
  const server = await spawnServer({
    folder,
    args: [],
    settings: {
      NODE_ENV: 'production',
      WB_POOL: '2',
      WB_TICK_MS: '200',
      WB_LOG: 'warn',
    },
  });
  const link = /^Sign in: http:\/\/[^/]+(\S+)$/m.exec(server.output())?.[1];
  if (link === undefined) throw new Error(`No sign-in link was printed:\n${server.output()}`);
  process.env[SERVER_VARIABLE] = JSON.stringify({ url: server.url, folder, link });
  return async () => {
    await server.end('SIGTERM');
    process.stderr.write(server.output().replace(/^(Sign in|Key|Winterdock|ready| {9}).*\n/gm, ''));
    rmSync(folder, { recursive: true, force: true });
  };
}
