/** Runs the project's tools with the pinned Node: with their output shown at once, or kept and returned. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build.ts';
import { PEERS } from './peers.ts';

/** Where a tool of `node_modules/.bin` is: in testing/peers, or else here; by its name alone where neither has it. */
export function toolAt(tool: string): string {
  const places = [PEERS, ROOT].map((folder) => join(folder, 'node_modules', '.bin', tool));
  return places.find((place) => existsSync(place)) ?? tool;
}

const spawnOptions = (environment: Record<string, string>) => ({
  cwd: ROOT,
  env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...environment },
});

/**
 * Runs a tool of `node_modules/.bin`, of testing/peers or else here, with its output shown. Returns whether it exited
 * with 0.
 */
export function runTool(tool: string, args: string[], environment: Record<string, string> = {}): boolean {
  process.stdout.write(`\n> ${tool} ${args.join(' ')}\n`);
  const run = spawnSync(toolAt(tool), args, { ...spawnOptions(environment), stdio: ['ignore', 'inherit', 'inherit'] });
  return run.status === 0;
}

/** A tool that runs beside others. */
export interface StartedTool {
  /** Whether it exited with 0. */
  passed: Promise<boolean>;
  /** Shows its command line, what it has written so far, and from now on what it writes, as it comes. */
  show(): void;
}

/**
 * Starts a tool and keeps its output until it is shown, so that the outputs of tools that run side by side are read one
 * after the other.
 */
export function startTool(tool: string, args: string[], environment: Record<string, string> = {}): StartedTool {
  const colours: Record<string, string> = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const options = spawnOptions({ ...colours, ...environment });
  const child = spawn(toolAt(tool), args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const kept: Buffer[] = [];
  let isShown = false;
  const take = (chunk: Buffer) => {
    if (isShown) process.stdout.write(chunk);
    else kept.push(chunk);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return {
    passed: new Promise((resolve) => {
      child.once('close', (code) => resolve(code === 0));
      child.once('error', (error) => {
        take(Buffer.from(`${error.message}\n`));
        resolve(false);
      });
    }),
    show() {
      if (isShown) return;
      isShown = true;
      process.stdout.write(`\n> ${tool} ${args.join(' ')}\n`);
      process.stdout.write(Buffer.concat(kept.splice(0)));
    },
  };
}
