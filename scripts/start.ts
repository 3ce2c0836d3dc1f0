/** `npm start`: builds the console when needed, then runs the server in this process, so that signals reach it. */
import { readConfig } from '../lib/base/config.ts';
import { messageOf } from '../lib/base/errors.ts';
import { foreseen } from '../lib/front/start-problems.ts';
import { ensureBuilt, isBuilt } from './build.ts';

/**
 * What would stop the server, before anybody waits for a build. Without a build to wait for the server says it itself.
 */
async function inTheWay(): Promise<string | null> {
  try {
    return await foreseen(readConfig(process.env));
  } catch (error) {
    return messageOf(error);
  }
}

if (!process.argv.includes('--api-only')) {
  const why = isBuilt() ? null : await inTheWay();
  if (why !== null) {
    process.stderr.write(`${why}\n`);
    process.exit(1);
  }
  ensureBuilt();
}
Object.assign(process.env, { NODE_ENV: 'production' });
await import('../lib/front/server.ts');
