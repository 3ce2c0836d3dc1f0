/**
 * The process entry: the engine behind the own listener. `--api-only` serves no console; `--dev` serves it from its
 * sources.
 */
import './needs-node.ts';
import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { listen } from './listener.ts';
import { openPages } from './pages.ts';
import { live, originOf, refuse } from './server-process.ts';
import { tellingSpentLinks } from './spent-links.ts';

function options(): { apiOnly: boolean; dev: boolean } {
  try {
    const { values } = parseArgs({ options: { 'api-only': { type: 'boolean' }, dev: { type: 'boolean' } } });
    return { apiOnly: values['api-only'] ?? false, dev: values.dev ?? false };
  } catch (error) {
    return refuse(messageOf(error));
  }
}

const { apiOnly, dev } = options();
await live({
  hasConsole: !apiOnly,
  dev,
  async serve(host) {
    const { config } = host;
    const opened = apiOnly ? undefined : await openPages({ dev, host: config.host, port: config.port });
    const pages = opened && tellingSpentLinks(opened, host.auth);
    await host.start();
    const listener = await listen(host, { port: config.port, address: config.host, pages, dev });
    // Next asks itself for the page that an action leads to: here, whatever port was free and whatever name people use.
    process.env.__NEXT_PRIVATE_ORIGIN = originOf(config, listener.port);
    return listener;
  },
});
