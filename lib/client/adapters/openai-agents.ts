/**
 * `winterdock/openai-agents`: sandboxes for the OpenAI Agents SDK, as its `SandboxClient`. Imports nothing at run time
 * but the files beside it: the two parts of the framework that it needs are given to it.
 */
import { ApiError } from '../error.ts';
import { volumePathOf } from '../sandbox/paths.ts';
import { type ConnectOptions, type CreateOptions, Sandbox } from '../sandbox.ts';
import { destroySandbox } from './ending.ts';
import { isRefusal } from './links.ts';
import { type AgentsParts, agentsSession } from './openai-agents-session.ts';
import type {
  AgentsCreateArgs,
  AgentsManifest,
  AgentsSandboxClient,
  AgentsSessionState,
} from './openai-agents-types.ts';

export type { AgentsSandboxClient, AgentsSandboxSession, AgentsSessionState } from './openai-agents-types.ts';

/** The parts of the framework, where the server is, and what each new sandbox is to be: as of `Sandbox.create`. */
export interface AgentsClientOptions<M> extends AgentsParts<M>, CreateOptions {}

/** Bytes in a manifest that was written down, as the framework writes them. */
function revived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revived);
  if (typeof value !== 'object' || value === null) return value;
  if ('type' in value && value.type === 'base64' && 'data' in value && typeof value.data === 'string') {
    return Uint8Array.from(atob(value.data), (character) => character.charCodeAt(0));
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, revived(inner)]));
}

/**
 * A client for `run(agent, input, { sandbox: { client } })`: `sandboxClient({ Manifest, applyDiff })`. Each session is
 * a sandbox. The end of a run suspends it, and its state resumes it by id, in any process; `client.delete(state)`
 * deletes it. Options of a run (`sandbox.options`) win over those given here. `signal`: stops the commands of its
 * sessions on the server; the framework gives them none of its own.
 */
export function sandboxClient<M extends AgentsManifest>({
  Manifest,
  applyDiff,
  ...options
}: AgentsClientOptions<M>): AgentsSandboxClient<M> {
  const parts = { Manifest, applyDiff };
  const { client, url, key, headers, fetch, retries } = options;
  const connection: ConnectOptions = { client, url, key, headers, fetch, retries };
  const connect = (state: AgentsSessionState<M>) => Sandbox.connect(state.sandboxId, connection);
  return {
    backendId: 'winterdock',
    async create(input = {}) {
      const args = input instanceof Manifest ? { manifest: input } : (input as AgentsCreateArgs<M>);
      const given = args.manifest ?? {};
      const manifest = given instanceof Manifest ? given : new Manifest(given);
      // A root in no volume is refused before anything is made.
      volumePathOf(manifest.root);
      const environment = await manifest.resolveEnvironment();
      const wanted: CreateOptions = { ...options, ...args.options };
      const box = await Sandbox.create(wanted);
      const state: AgentsSessionState<M> = { manifest, sandboxId: box.id, environment, workspaceReady: true };
      const session = agentsSession(box, state, parts, wanted.signal);
      for (const [path, entry] of Object.entries(manifest.entries)) await session.materializeEntry({ path, entry });
      return session;
    },
    async resume(state, { clientOptions } = {}) {
      const { signal }: CreateOptions = { ...options, ...clientOptions };
      return agentsSession(await connect(state), state, parts, signal);
    },
    async delete(state) {
      try {
        await destroySandbox(await connect(state), 'its session was deleted');
      } catch (error) {
        // Deleted before: that is what was asked for.
        if (!isRefusal(error, 'gone')) throw error;
      }
    },
    // The framework writes the manifest down beside it.
    serializeSessionState: async ({ sandboxId }) => ({ sandboxId }),
    async deserializeSessionState({ sandboxId, manifest: record, ...rest }) {
      if (typeof sandboxId !== 'string') {
        throw new ApiError('validation', 'This is no state of a session of winterdock: it has no sandboxId.');
      }
      const manifest = new Manifest((revived(record) as object | undefined) ?? {});
      return { ...rest, manifest, sandboxId, environment: await manifest.resolveEnvironment() };
    },
    canPersistOwnedSessionState: () => true,
  };
}
