/** `npm start`: builds the console when needed, then runs the server in this process, so that signals reach it. */
import '../lib/front/require-node.ts';
import { readConfig } from '../lib/base/config.ts';
import { messageOf } from '../lib/base/errors.ts';
import { preflight } from '../lib/front/start-problems.ts';
import { ensureBuilt, ensureWorkerBundle, isBuilt } from './build.ts';

/** Why the server could not start, found out before a long build. */
async function startProblem(): Promise<string | null> {
  try {
    return await preflight(readConfig(process.env));
  } catch (error) {
    return messageOf(error);
  }
}

if (!process.argv.includes('--api-only')) {
  const why = isBuilt() ? null : await startProblem();
  if (why !== null) {
    process.stderr.write(`${why}\n`);
    process.exit(1);
  }
  ensureBuilt();
} else {
  ensureWorkerBundle();
}
Object.assign(process.env, { NODE_ENV: 'production' });
await import('../lib/front/server.ts');
