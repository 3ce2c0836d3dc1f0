/** Operations on terminals that the server keeps, and the completion of what is typed. Completing wakes nothing. */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type {
  CompletionInput,
  LineCompletion,
  SandboxRun,
  SandboxTerminal,
  TerminalLineInput,
} from '../contract/schema.ts';
import { SHELL_COMMANDS } from '../guest/guest.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { TerminalActor, TerminalReader, TerminalStatus } from '../terminals/terminal-types.ts';
import type { Terminals } from '../terminals/terminals.ts';
import { parseVfsPath } from '../vfs/paths.ts';
import { VOLUMES, type Volume } from '../vfs/volumes.ts';
import { auditContextOf } from './audit-context.ts';
import { wordBefore } from './completion-word.ts';
import { sandboxRunOf } from './runs.ts';

const MAX_NAMES = 500;

export interface TerminalOperations {
  /** Those that are open, and the last ones that went. */
  listTerminals(caller: Caller, id: InstanceId): Promise<SandboxTerminal[]>;
  openTerminal(caller: Caller, id: InstanceId): Promise<SandboxTerminal>;
  closeTerminal(caller: Caller, id: InstanceId, terminal: string): Promise<void>;
  typeInTerminal(caller: Caller, id: InstanceId, terminal: string, input: TerminalLineInput): Promise<SandboxRun>;
  interruptTerminal(caller: Caller, id: InstanceId, terminal: string): Promise<SandboxTerminal>;
  /** Removes its scrollback, for everybody. */
  clearTerminal(caller: Caller, id: InstanceId, terminal: string): Promise<SandboxTerminal>;
  showTerminal(caller: Caller, id: InstanceId, terminal: string): Promise<TerminalReader>;
  /** Names that a line may go on with: commands where one begins, else paths. */
  completeLine(caller: Caller, id: InstanceId, input: CompletionInput): Promise<LineCompletion>;
}

export function terminalOperations(parts: {
  terminals: Terminals;
  sandboxes: Sandboxes;
  auth: { actors: ActorDirectory };
}): TerminalOperations {
  const { terminals, sandboxes } = parts;
  return {
    listTerminals: async (_caller, id) => (await terminals.list(id)).map(terminalOf),
    openTerminal: async (caller, id) => terminalOf(await terminals.create(id, auditContextOf(caller))),
    closeTerminal: (caller, id, terminal) => terminals.close(id, terminal, auditContextOf(caller)),
    async typeInTerminal(caller, id, terminal, line) {
      const { actor_name } = await actorOf(caller);
      const run = await terminals.type(id, terminal, { ...line, actor_name }, auditContextOf(caller));
      return { ...sandboxRunOf(run), actor_name };
    },
    interruptTerminal: async (caller, id, terminal) =>
      terminalOf(await terminals.interrupt(id, terminal, auditContextOf(caller))),
    clearTerminal: async (caller, id, terminal) =>
      terminalOf(await terminals.clear(id, terminal, await actorOf(caller), auditContextOf(caller))),
    showTerminal: (_caller, id, terminal) => terminals.read(id, terminal),

    async completeLine(_caller, id, { line, cwd }) {
      const { begin, isCommand, path, quote } = wordBefore(line, cwd);
      const commands = isCommand ? SHELL_COMMANDS.filter((name) => name.startsWith(begin)) : [];
      const [volume, ...rest] = path;
      const names = isCommand
        ? []
        : volume === undefined
          ? VOLUMES.map((name) => `${name}/`)
          : (VOLUMES as readonly string[]).includes(volume)
            ? await folderNames(id, volume as Volume, `/${rest.join('/')}`)
            : [];
      const fitting = [
        ...commands,
        ...names.filter((name) => name.startsWith(begin) && (begin !== '' || !name.startsWith('.'))),
      ];
      return { begin, quote, names: fitting.slice(0, MAX_NAMES), truncated: fitting.length > MAX_NAMES };
    },
  };

  async function actorOf({ actor }: Caller): Promise<TerminalActor> {
    const { actors } = parts.auth;
    await actors.load([actor]);
    return { actor, actor_name: actors.nameOf(actor) };
  }

  /** Names in a folder, folders with a slash; none when it cannot be read. */
  async function folderNames(id: InstanceId, volume: Volume, folder: string): Promise<string[]> {
    try {
      const path = parseVfsPath(folder);
      const { items } = await sandboxes.read(id, { op: 'folder', volume, path, limit: MAX_NAMES });
      return items.map(({ name, kind }) => (kind === 'dir' ? `${name}/` : name));
    } catch {
      // A folder that is not there, or a sandbox that cannot be read, completes nothing.
      return [];
    }
  }
}

function terminalOf({
  id,
  instance,
  number,
  createdMs,
  endedMs,
  cwd,
  run,
  shown,
  gone,
}: TerminalStatus): SandboxTerminal {
  const ended = endedMs === null ? null : Math.floor(endedMs / 1000);
  return { id, instance, number, created: Math.floor(createdMs / 1000), ended, cwd, run, shown, gone };
}
