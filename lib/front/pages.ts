/** The console as a request handler: Next, run inside this process. Loaded only when pages are served. */
import { fileURLToPath } from 'node:url';
import type { PageHandler } from './page-door.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Prepares the console: built (`dev` false) or from its sources, whose hot reloading attaches itself to the server of the first
 * request. Throws when there is no build.
 */
export async function openPages(options: { dev: boolean; host: string; port: number }): Promise<PageHandler> {
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  const { default: next } = await import('next');
  const app = next({ dev: options.dev, dir: ROOT, hostname: options.host, port: options.port });
  await app.prepare();
  const answer = app.getRequestHandler();
  return (req, res) => answer(req, res);
}
