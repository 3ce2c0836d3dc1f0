/** `npm start`: builds the console when needed, then runs the server in this process, so that signals reach it. */
import '../lib/front/require-node.ts';
import { readConfig } from '../lib/base/config.ts';
import { messageOf } from '../lib/base/errors.ts';
import { exitCodeFor, preflight } from '../lib/front/start-problems.ts';
import { ensureBuilt, ensureWorkerBundle, isBuilt } from './build.ts';

/** Why the server could not start, found out before a long build, with the exit code. */
async function startProblem(): Promise<{ why: string; exitCode: number } | null> {
  try {
    const why = await preflight(readConfig(process.env));
    return why === null ? null : { why, exitCode: 1 };
  } catch (error) {
    return { why: messageOf(error), exitCode: exitCodeFor(error) };
  }
}

if (!process.argv.includes('--api-only')) {
  const problem = isBuilt() ? null : await startProblem();
  if (problem !== null) {
    process.stderr.write(`${problem.why}\n`);
    process.exit(problem.exitCode);
  }
  ensureBuilt();
} else {
  ensureWorkerBundle();
}
Object.assign(process.env, { NODE_ENV: 'production' });
await import('../lib/front/server.ts');
