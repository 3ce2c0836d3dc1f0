/**
 * For tests: a worker that was taken over by code outside any interpreter. Runs code behind the walls of network, user,
 * capabilities and files, as the user of a sandbox and in its live folder, on a data folder that a server uses.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildWalls, type Walls } from '../instance/processes/walls/walls.ts';

/** What the code of a fallen worker may use. */
const PROLOGUE = `const [fs, net, child] = ['fs', 'net', 'child_process'].map((name) => process.getBuiltinModule('node:' + name));
const remove = () => ['', '-wal', '-shm', '-journal'].forEach((suffix) => fs.rmSync('vfs.sqlite' + suffix, { recursive: true, force: true }));
const mkfifo = (name) => child.execFileSync('/usr/bin/mkfifo', [name]);`;

export interface FallenWorkers {
  readonly walls: Walls;
  /** Runs code in the place of a sandbox's worker. It ends by itself. Throws what it printed as an error. */
  run(id: string, code: string): Promise<string>;
  /** The same of code that goes on until the process is killed. Resolves once it prints something. */
  begin(id: string, code: string): Promise<ChildProcess>;
  close(): void;
}

/** Makes ready to play them on a data folder. Call it once its server has started. */
export async function fallenWorkers(dataFolder: string): Promise<FallenWorkers> {
  const cacheFolder = process.env.WB_CACHE ?? join(dataFolder, 'cache');
  // Those that keep code from starting programs would keep it from making pipes: what is tried here is the folder.
  const wanted = ['net', 'uid', 'caps', 'files'] as const;
  const walls = await buildWalls({ dataFolder, cacheFolder, maxStartMs: 30_000, wanted });
  const start = (id: string, code: string) => {
    const user = walls.ownUser?.(id);
    const script = `${user === undefined ? '' : `process.setuid(${user.uid});`}
      process.chdir(${JSON.stringify(join(dataFolder, 'live', id))}); ${PROLOGUE}\n${code}`;
    const [file = '', ...args] = [...walls.command, process.execPath, '--no-warnings', '-e', script];
    return spawn(file, args, { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  return {
    walls,
    async run(id, code) {
      const started = start(id, code);
      const [output, complaint] = await Promise.all([text(started.stdout), text(started.stderr)]);
      if (complaint !== '') throw new Error(complaint);
      return output;
    },
    async begin(id, code) {
      const started = start(id, code);
      await new Promise((resolve, reject) => {
        started.stdout.once('data', resolve);
        started.once('exit', () => reject(new Error('it ended')));
      });
      return started;
    },
    close: () => walls.close(),
  };
}
