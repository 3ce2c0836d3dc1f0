/**
 * `winterdock/ai-sdk`: a sandbox as the AI SDK's `Experimental_SandboxSession`, and the provider of such sessions.
 * Imports nothing at run time but the files beside it.
 */
import type { CallOptions, Upload } from '../call.ts';
import { ApiError } from '../error.ts';
import { HOME, volumePathOf } from '../sandbox/paths.ts';
import { type ConnectOptions, type CreateOptions, Sandbox } from '../sandbox.ts';
import { spawnRun } from './ai-sdk-spawn.ts';
import type {
  AiCreateSessionOptions,
  AiNetworkSandboxSession,
  AiSandboxProvider,
  AiSandboxSession,
} from './ai-sdk-types.ts';
import { descriptionFor, remarkOn, wholeCwd, withRemark } from './commands.ts';
import { destroySandbox, putToSleep } from './ending.ts';
import { entryAt } from './entry.ts';
import { followLinks, isRefusal, writeOverLinks } from './links.ts';
import { sandboxIdOf } from './session-ids.ts';

export type { AiNetworkSandboxSession, AiSandboxProcess, AiSandboxProvider, AiSandboxSession } from './ai-sdk-types.ts';

/** Says that the preparation of this identity has ended. */
const PREPARED = 'ai-sdk-prepared';

/** Lines `from` to `to`, both counted from 1 and included, with the line ends that the text has. */
function linesOf(text: string, from: number | undefined, to: number | undefined): string {
  if (from === undefined && to === undefined) return text;
  const end = ['\r\n', '\n', '\r'].find((one) => text.includes(one)) ?? '\n';
  return text
    .split(end)
    .slice(Math.max(1, from ?? 1) - 1, to)
    .join(end);
}

/**
 * A sandbox as a session for `generateText({ experimental_sandbox })` and its like. Paths are the shell's; relative
 * ones are in `/workspace`. Reading wakes nothing, unless it leads over a link. A command that was cut or stopped by
 * its time says so at the end of its `stderr`.
 */
export function sandboxSession(box: Sandbox): AiSandboxSession {
  const read = <T>(path: string, options: CallOptions, how: (path: string) => Promise<T>) =>
    followLinks(box, path, options, how);
  const readBytes = (path: string, signal: AbortSignal | undefined) =>
    read(path, { signal }, (real) => box.files.read(real, { format: 'bytes', signal }));
  const write = async (path: string, content: Upload, signal: AbortSignal | undefined) => {
    await writeOverLinks(box, path, content, { signal });
  };
  return {
    description: descriptionFor(box.policy),
    readFile: ({ path, abortSignal: signal }) =>
      read(path, { signal }, (real) => box.files.read(real, { format: 'stream', signal })),
    readBinaryFile: ({ path, abortSignal }) => readBytes(path, abortSignal),
    async readTextFile({ path, encoding = 'utf-8', startLine, endLine, abortSignal }) {
      const decoder = new TextDecoder(encoding);
      const bytes = await readBytes(path, abortSignal);
      return bytes && linesOf(decoder.decode(bytes), startLine, endLine);
    },
    writeFile: ({ path, content, abortSignal }) => write(path, content, abortSignal),
    writeBinaryFile: ({ path, content, abortSignal }) => write(path, content, abortSignal),
    async writeTextFile({ path, content, encoding = 'utf-8', abortSignal }) {
      if (!/^utf-?8$/i.test(encoding)) throw new RangeError(`Text is written as UTF-8, not as ${encoding}.`);
      await write(path, content, abortSignal);
    },
    stat: ({ path, abortSignal: signal }) => entryAt(box, path, { signal }),
    listDirectory: ({ path, abortSignal: signal }) =>
      read(path, { signal }, async (real) => {
        const types = { file: 'file', dir: 'directory', link: 'symlink' } as const;
        return (await box.files.list(real, { signal })).map(({ name, kind }) => ({ name, type: types[kind] }));
      }),
    async deleteFile({ path, abortSignal: signal }) {
      const { volume, path: inVolume } = volumePathOf(path);
      try {
        await box.client.deleteFile(box.id, volume, inVolume, { signal });
        return true;
      } catch (error) {
        if (!isRefusal(error, 'not_found') || (await box.files.exists(path, { signal }))) throw error;
        return false;
      }
    },
    async run({ command, workingDirectory, env, abortSignal: signal }) {
      const result = await box.commands.run(command, { cwd: wholeCwd(workingDirectory), env, signal });
      const { exitCode, stdout, stderr } = result;
      return { exitCode, stdout, stderr: withRemark(stderr, remarkOn(result)) };
    },
    spawn: (async (options) => {
      if (options.stdin) throw new ApiError('validation', 'A process of a sandbox has no open stdin.');
      return spawnRun(box, options);
    }) as AiSandboxSession['spawn'],
  };
}

function networkSession(box: Sandbox): AiNetworkSandboxSession {
  const session = sandboxSession(box);
  const noPort = async ({ port }: { port: number }): Promise<never> => {
    throw new ApiError('validation', `Port ${port} of a sandbox cannot be reached from outside.`, {
      hint: 'Harnesses that talk to a bridge in the sandbox need a provider with ports.',
    });
  };
  return {
    ...session,
    id: box.id,
    defaultWorkingDirectory: HOME,
    ports: [],
    getPortEndpoint: noPort,
    getPortUrl: noPort,
    stop: () => putToSleep(box, 'its session was stopped'),
    destroy: () => destroySandbox(box, 'its session was destroyed'),
    restricted: () => session,
  };
}

/**
 * A provider of sessions, for `HarnessAgent({ sandbox })` and for programs that begin, stop and resume them by id. The
 * same `sessionId` gives the same sandbox; once destroyed, its id is used up. `options`: as of `Sandbox.create`.
 */
export function sandboxProvider(options: Omit<CreateOptions, 'id' | 'signal'> = {}): AiSandboxProvider {
  const { client, url, key, headers, fetch, retries } = options;
  const connection: ConnectOptions = { client, url, key, headers, fetch, retries };
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId: 'winterdock',
    async createSession({ sessionId, identity, onFirstCreate, abortSignal }: AiCreateSessionOptions = {}) {
      const id = sessionId === undefined ? undefined : await sandboxIdOf(sessionId);
      const box = await Sandbox.create({ ...options, id, signal: abortSignal });
      const session = networkSession(box);
      if (onFirstCreate === undefined) return session;
      const { labels } = await box.info({ signal: abortSignal });
      const prepared = await sandboxIdOf(identity ?? 'any');
      if (labels[PREPARED] === prepared) return session;
      await onFirstCreate(session.restricted(), { abortSignal });
      await box.client.patchInstance(box.id, { labels: { ...labels, [PREPARED]: prepared } }, { signal: abortSignal });
      return session;
    },
    async resumeSession({ sessionId, abortSignal: signal }) {
      return networkSession(await Sandbox.connect(await sandboxIdOf(sessionId), { ...connection, signal }));
    },
  };
}
