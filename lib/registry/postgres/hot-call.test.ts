/** What a call of a sandbox that is awake costs a server whose registry is far away. */
import { expect, test } from 'vitest';
import { startServer } from '../../testing/server.ts';
import { administer, newDatabase } from '../testing/postgres-driver.ts';
import { postgresProxy } from '../testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';

const NAME = 'hot_call';
/** The server has work of its own now and then, which one of so many calls is not beside. */
const CALLS = 8;

test.skipIf(!HAS_POSTGRES)('a hot exec waits for its registry once at most', async () => {
  const proxy = await postgresProxy(await newDatabase(NAME));
  const [host] = proxy.address.hosts;
  const server = await startServer({
    settings: { WB_REGISTRY: `postgres://${proxy.address.user}@127.0.0.1:${host?.port}/${NAME}` },
  });
  try {
    await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
    await server.call('PATCH', '/api/instances/a/env', { env: { WHO: 'me' } });
    const exec = async () => {
      const { json } = await server.call('POST', '/api/instances/a/exec', { command: 'echo "$WHO"' });
      expect(json).toMatchObject({ exit_code: 0, stdout: 'me\n' });
    };
    await exec();
    await exec();
    const trips: number[] = [];
    while (trips.length < CALLS) trips.push(await proxy.roundTrips(exec));
    expect(Math.min(...trips)).toBe(1);
  } finally {
    await server.stop();
    await proxy.end();
    await administer(`drop database if exists ${NAME} with (force)`);
  }
});
