/** The console as a request handler: Next, running in this process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withBuild } from './build-header.ts';
import type { PageHandler } from './page-adapter.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The settings that the console was built with, passed to Next as its own standalone server does. Reading
 * next.config.ts again would load Next's compiler. Throws when there is no build.
 */
function builtConfig(): string {
  const written = readFileSync(join(ROOT, '.next', 'required-server-files.json'), 'utf8');
  return JSON.stringify((JSON.parse(written) as { config: unknown }).config);
}

/**
 * Prepares the console: the build, or with `dev` the sources, whose hot reloading attaches to the server of the first
 * request. Throws when there is no build.
 */
export async function openPages(options: { dev: boolean; host: string; port: number }): Promise<PageHandler> {
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  if (!options.dev) process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = builtConfig();
  const { default: next } = await import('next');
  const app = next({ dev: options.dev, dir: ROOT, hostname: options.host, port: options.port });
  await app.prepare();
  return withBuild(app.getRequestHandler(), options);
}
