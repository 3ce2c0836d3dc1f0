/**
 * For tests: a worker that was taken over by code outside any interpreter. Runs code behind the walls of network, user,
 * capabilities and files, as the user of a sandbox and in its live folder, on a data folder that a server uses.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PLAYER = fileURLToPath(new URL('./fallen-player.ts', import.meta.url));

/** What fallen-player.ts is told. `begins`: it answers when the code prints something, else when that has ended. */
export interface ToPlay {
  number: number;
  id: string;
  code: string;
  begins: boolean;
}

export interface Played {
  number: number;
  pid: number;
  output: string;
  complaint: string;
}

export interface FallenWorkers {
  /** Runs code in the place of a sandbox's worker. It ends by itself. Throws what it printed as an error. */
  run(id: string, code: string): Promise<string>;
  /** The same of code that goes on until its process is killed, by this id. Resolves once it prints something. */
  begin(id: string, code: string): Promise<number>;
  close(): Promise<void>;
}

/** Makes ready to play them on a data folder. Call it once its server has started. `within`: as for the server. */
export async function fallenWorkers(
  dataFolder: string,
  cacheFolder: string,
  within: readonly string[] = [],
): Promise<FallenWorkers> {
  const [file = '', ...args] = [...within, process.execPath, '--no-warnings', PLAYER, dataFolder, cacheFolder];
  const player = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (played: Played) => void>();
  let last = 0;
  const answer = (number: number) => new Promise<Played>((resolve) => waiting.set(number, resolve));
  createInterface({ input: player.stdout }).on('line', (line) => {
    const played = JSON.parse(line) as Played;
    waiting.get(played.number)?.(played);
  });
  const ended = once(player, 'exit');
  const play = async (id: string, code: string, begins: boolean) => {
    last += 1;
    const answered = answer(last);
    player.stdin.write(`${JSON.stringify({ number: last, id, code, begins } satisfies ToPlay)}\n`);
    const played = await answered;
    if (played.complaint !== '') throw new Error(played.complaint);
    return played;
  };
  await Promise.race([answer(0), ended.then(() => Promise.reject(new Error('The player ended.')))]);
  return {
    run: async (id, code) => (await play(id, code, false)).output,
    begin: async (id, code) => (await play(id, code, true)).pid,
    async close() {
      player.stdin.end();
      await ended;
    },
  };
}
