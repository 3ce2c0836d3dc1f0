/** `npm start`: builds the console when needed, then runs the server in this process, so that signals reach it. */
import { ensureBuilt } from './build.ts';

if (!process.argv.includes('--api-only')) ensureBuilt();
Object.assign(process.env, { NODE_ENV: 'production' });
await import('../lib/server.ts');
