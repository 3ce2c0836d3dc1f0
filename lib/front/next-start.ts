/**
 * The process entry for `next start`: the engine behind the HTTP server that Next made. Loaded by instrumentation.ts,
 * unbundled, unless an engine runs already.
 */
import './require-node.ts';
import { withBuild } from './build-header.ts';
import { attachToNextServer } from './next-server.ts';
import { runServerProcess } from './server-process.ts';
import { withSettingsStatus } from './settings-status.ts';
import { withLinkStatus } from './sign-in-link-status.ts';

const dev = process.env.NODE_ENV === 'development';
// Next listens already, and sets PORT.
const port = Number(process.env.PORT);
const server = attachToNextServer({ port, dev });
await runServerProcess({
  hasConsole: true,
  dev,
  async serve(host) {
    await host.start();
    await server.open(host, (next) =>
      withSettingsStatus(withLinkStatus(withBuild(next, { dev }), host.auth), host.auth),
    );
    return { port, close: (graceMs) => server.close(graceMs) };
  },
});
