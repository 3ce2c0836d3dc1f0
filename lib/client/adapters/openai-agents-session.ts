/** A sandbox as a session of the OpenAI Agents SDK. Safe for the browser. */
import { ApiError } from '../error.ts';
import { shellPathOf, volumePathOf } from '../sandbox/paths.ts';
import type { Sandbox } from '../sandbox.ts';
import { remarkOn, withRemark } from './commands.ts';
import { putToSleep } from './ending.ts';
import { entryAt } from './entry.ts';
import { mediaTypeOf } from './file-kinds.ts';
import { followLinks, writeOverLinks } from './links.ts';
import { type ApplyDiff, editorOf } from './openai-agents-editor.ts';
import { execAnswer, fittingOutput } from './openai-agents-output.ts';
import type {
  AgentsEntry,
  AgentsExecArgs,
  AgentsExecResult,
  AgentsManifest,
  AgentsSandboxSession,
  AgentsSessionState,
} from './openai-agents-types.ts';

/** Where an archive lies while it is unpacked. */
const ARCHIVE = '/tmp/.winterdock-workspace.tar';

/** What of the framework a session uses. */
export interface AgentsParts<M> {
  /** `Manifest` of `@openai/agents/sandbox`. */
  Manifest: new (
    init?: object,
  ) => M;
  /** `applyDiff` of `@openai/agents`. */
  applyDiff: ApplyDiff;
}

function refuseUser(runAs: string | undefined): void {
  if (runAs === undefined) return;
  throw new ApiError('validation', `A sandbox has one user: nothing runs as ${runAs}.`);
}

/** A session of a sandbox, which keeps no state but what `state` says. `signal`: stops its commands. */
export function agentsSession<M extends AgentsManifest>(
  box: Sandbox,
  state: AgentsSessionState<M>,
  { Manifest, applyDiff }: AgentsParts<M>,
  signal: AbortSignal | undefined,
): AgentsSandboxSession<M> {
  const running = new Set<AbortController>();
  const pathOf = (path: string) =>
    shellPathOf(volumePathOf(path.startsWith('/') ? path : `${state.manifest.root}/${path}`));
  const placeOf = (path: string, runAs?: string) => {
    refuseUser(runAs);
    return pathOf(path);
  };
  const look = async <T>(path: string, work: (real: string) => Promise<T>): Promise<T> => {
    const found = await followLinks(box, path, {}, work);
    if (found === null) throw new ApiError('not_found', `There is nothing at ${path}.`);
    return found;
  };

  const exec = async ({ cmd, workdir, maxOutputTokens, runAs }: AgentsExecArgs): Promise<AgentsExecResult> => {
    const cwd = workdir?.startsWith('/') ? workdir : pathOf(workdir ?? '.');
    refuseUser(runAs);
    const stop = new AbortController();
    running.add(stop);
    try {
      const either = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
      const result = await box.commands.run(cmd, { cwd, env: state.environment, signal: either });
      const { stdout, stderr, exitCode, tookMs } = result;
      const both = stderr === '' ? stdout : withRemark(stdout, stderr);
      const { text, tokens } = fittingOutput(both, maxOutputTokens);
      const described = {
        output: withRemark(text, remarkOn(result)),
        stdout,
        stderr,
        exitCode,
        wallTimeSeconds: tookMs / 1000,
      };
      return tokens === undefined ? described : { ...described, originalTokenCount: tokens };
    } finally {
      running.delete(stop);
    }
  };

  const write = async (path: string, entry: AgentsEntry): Promise<void> => {
    if (entry.type === 'file' && (typeof entry.content === 'string' || entry.content instanceof Uint8Array)) {
      await writeOverLinks(box, path, entry.content, {});
    } else if (entry.type === 'dir') {
      if (!(await box.files.exists(path))) await box.files.makeDir(path);
      for (const [name, child] of Object.entries(entry.children ?? {})) await write(`${path}/${name}`, child);
    } else {
      throw new ApiError('validation', `A sandbox has nothing for "${path}", an entry of the type ${entry.type}.`, {
        hint: 'Files and folders come from the manifest; write others with the files API.',
      });
    }
  };

  const stop = async () => {
    for (const each of running) each.abort(new Error('The session was stopped.'));
    await putToSleep(box, 'its session was stopped');
  };

  return {
    state,
    exec,
    execCommand: async (args) => execAnswer(await exec(args)),
    supportsPty: () => false,
    async readFile({ path, runAs, maxBytes }) {
      const bytes = await look(placeOf(path, runAs), (real) => box.files.read(real, { format: 'bytes' }));
      return maxBytes === undefined ? bytes : bytes.subarray(0, maxBytes);
    },
    async viewImage({ path, runAs }) {
      const mediaType = mediaTypeOf(path);
      if (!mediaType?.startsWith('image/')) throw new ApiError('validation', `${path} is no image by its name.`);
      const data = await look(placeOf(path, runAs), (real) => box.files.read(real, { format: 'bytes' }));
      return { type: 'image', image: { data, mediaType } };
    },
    async listDir({ path, runAs }) {
      const entries = await look(placeOf(path, runAs), (real) => box.files.list(real));
      const base = path.replace(/\/+$/, '');
      return entries.map(({ name, kind }) => ({
        name,
        path: path === '' || path === '.' ? name : `${base}/${name}`,
        type: kind === 'link' ? 'other' : kind,
      }));
    },
    pathExists: async (path, runAs) => (await entryAt(box, placeOf(path, runAs), {})) !== null,
    directoryExists: async (path, runAs) => (await entryAt(box, placeOf(path, runAs), {}))?.type === 'directory',
    createEditor(runAs) {
      refuseUser(runAs);
      return editorOf(box, pathOf, applyDiff);
    },
    materializeEntry: ({ path, entry, runAs }) => write(placeOf(path, runAs), entry),
    async applyManifest(manifest, runAs) {
      refuseUser(runAs);
      for (const [path, entry] of Object.entries(manifest.entries)) await write(pathOf(path), entry);
      const before = state.manifest;
      state.manifest = new Manifest({
        ...before,
        entries: { ...before.entries, ...manifest.entries },
        environment: { ...before.environment, ...manifest.environment },
      });
      state.environment = { ...state.environment, ...(await manifest.resolveEnvironment()) };
    },
    async persistWorkspace() {
      await putToSleep(box, 'its workspace is persisted');
      return (await box.client.checkoutInstance(box.id, { format: 'tar.gz' })).bytes();
    },
    async hydrateWorkspace(data) {
      await box.files.write(ARCHIVE, data);
      const unpack = `cd /workspace && find . -mindepth 1 -delete && tar -xf ${ARCHIVE}; ended=$?; rm ${ARCHIVE}; exit $ended`;
      const { exitCode, stderr } = await box.commands.run(unpack);
      if (exitCode !== 0) throw new ApiError('validation', `The archive could not be unpacked: ${stderr.trim()}`);
    },
    running: async () => (await box.info()).state === 'active',
    stop,
    close: stop,
  };
}
