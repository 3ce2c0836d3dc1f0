/**
 * The process entry of `npm start` and `npm run dev`: the engine behind our own HTTP server. `--api-only` serves no
 * console; `--dev` serves it from its sources.
 */
import './require-node.ts';
import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { listen } from './listener.ts';
import { openPages } from './pages.ts';
import { exitWithMessage, originOf, runServerProcess } from './server-process.ts';
import { withSettingsStatus } from './settings-status.ts';
import { withLinkStatus } from './sign-in-link-status.ts';

function options(): { apiOnly: boolean; dev: boolean } {
  try {
    const { values } = parseArgs({ options: { 'api-only': { type: 'boolean' }, dev: { type: 'boolean' } } });
    return { apiOnly: values['api-only'] ?? false, dev: values.dev ?? false };
  } catch (error) {
    return exitWithMessage(messageOf(error));
  }
}

const { apiOnly, dev } = options();
await runServerProcess({
  hasConsole: !apiOnly,
  dev,
  async serve(host) {
    const { config } = host;
    const opened = apiOnly ? undefined : await openPages({ dev, host: config.host, port: config.port });
    const pages = opened && withSettingsStatus(withLinkStatus(opened, host.auth), host.auth);
    await host.start();
    const listener = await listen(host, { port: config.port, address: config.host, pages, dev });
    // After an action Next fetches the next page from this origin: the real port, and not a name that people use.
    process.env.__NEXT_PRIVATE_ORIGIN = originOf(config, listener.port);
    return listener;
  },
});
