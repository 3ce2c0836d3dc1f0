/**
 * The process entry where Next is started alone (`next start`): the engine behind the server that Next made. Loaded by
 * instrumentation.ts, unbundled; never where an engine runs already.
 */
import { adoptServer } from './next-server.ts';
import { live } from './server-process.ts';
import { tellingSpentLinks } from './spent-links.ts';

const dev = process.env.NODE_ENV === 'development';
// Next listens already, and says where.
const port = Number(process.env.PORT);
const server = adoptServer({ port, dev });
await live({
  hasConsole: true,
  dev,
  async serve(host) {
    await host.start();
    await server.open(host, (next) => tellingSpentLinks(next, host.auth));
    return { port, close: (graceMs) => server.close(graceMs) };
  },
});
