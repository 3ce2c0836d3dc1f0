/** Runs the project's tools one after another with the pinned Node, and says which failed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build.ts';
import { PEERS } from './peers.ts';

/** Where a tool of `node_modules/.bin` is: in testing/peers, or else here; by its name alone where neither has it. */
export function toolAt(tool: string): string {
  const places = [PEERS, ROOT].map((folder) => join(folder, 'node_modules', '.bin', tool));
  return places.find((place) => existsSync(place)) ?? tool;
}

/**
 * Runs a tool of `node_modules/.bin`, of testing/peers or else here, with its output shown. Returns whether it exited
 * with 0.
 */
export function runTool(tool: string, args: string[], environment: Record<string, string> = {}): boolean {
  process.stdout.write(`\n> ${tool} ${args.join(' ')}\n`);
  const run = spawnSync(toolAt(tool), args, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...environment },
  });
  return run.status === 0;
}
