/** Operations on runs: commands of a sandbox that outlive the request that began them. lib/runs carries them out. */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type { RunPiece, RunsQuery, SandboxRun, StartRunInput } from '../contract/schema.ts';
import type { RingPiece } from '../runs/output-ring.ts';
import type { RunReader, RunStatus } from '../runs/run-types.ts';
import type { Runs } from '../runs/runs.ts';
import { textOfBytes } from '../workers/protocol/byte-text.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import { pieceOf } from './call-output.ts';
import type { ListPage } from './list-page.ts';

/** Reads the output of one run, as the contract has it. */
export interface RunOutputReader {
  run(): SandboxRun;
  /** Pieces from `offset` on, about `mostBytes` of them; `next`: where to go on. */
  read(offset: number, mostBytes: number): { pieces: RunPiece[]; next: number; dropped: number };
  /** Where a piece ends. */
  endOf(piece: RunPiece): number;
  /** Throws `rate_limited` when too many follow runs. */
  requirePlace(): void;
  /** Takes a place until the returned function is called. Throws as `requirePlace`. */
  follow(): () => void;
  /** Resolves at the next change, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

export interface SandboxRunOperations {
  /** Begins a run; answers when it is written down. */
  startRun(caller: Caller, id: InstanceId, input: StartRunInput): Promise<SandboxRun>;
  listRuns(caller: Caller, id: InstanceId, query: RunsQuery): Promise<ListPage<SandboxRun>>;
  getRun(caller: Caller, id: InstanceId, run: string): Promise<SandboxRun>;
  runOutput(caller: Caller, id: InstanceId, run: string): Promise<RunOutputReader>;
  /** Stops it, and answers with its end, or without after three seconds. */
  stopRun(caller: Caller, id: InstanceId, run: string): Promise<SandboxRun>;
}

export function sandboxRunOperations(parts: { runs: Runs; auth: { actors: ActorDirectory } }): SandboxRunOperations {
  const { runs } = parts;
  const { actors } = parts.auth;
  const named = (run: RunStatus) => withActorName(actors, 'actor', sandboxRunOf(run));
  return {
    async startRun(caller, id, { command, cwd, env, stdin, timeout_ms: timeoutMs }) {
      const request = {
        language: 'shell' as const,
        code: command,
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
        ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      };
      return named(await runs.begin(id, request, auditContextOf(caller)));
    },

    async listRuns(_caller, id, { limit, cursor }) {
      const { rows, next } = await runs.list(id, limit, cursor);
      return { items: await withActorNames(actors, 'actor', rows.map(sandboxRunOf)), next };
    },

    getRun: async (_caller, id, run) => named(await runs.get(id, run)),
    runOutput: async (_caller, id, run) => {
      const reader = await runs.reader(id, run);
      const { actor_name } = await named(reader.status());
      return outputReader(reader, actor_name);
    },
    stopRun: async (caller, id, run) => named(await runs.stop(id, run, auditContextOf(caller))),
  };
}

function outputReader(reader: RunReader, actorName: string | null): RunOutputReader {
  return {
    run: () => ({ ...sandboxRunOf(reader.status()), actor_name: actorName }),
    read(offset, mostBytes) {
      const { outputBytes, outputStart } = reader.status();
      // A reader of an earlier server's run, or one that made its offset up, goes on at the end.
      const from = Math.min(offset, outputBytes);
      const { pieces, next } = reader.read(from, mostBytes);
      const first = pieces[0]?.offset ?? Math.max(outputStart, next);
      return { pieces: pieces.map(runPieceOf), next: Math.max(next, from), dropped: Math.max(0, first - from) };
    },
    endOf: ({ offset, text, encoding }) => offset + Buffer.byteLength(text, encoding ?? 'utf8'),
    requirePlace: () => reader.requirePlace(),
    follow: () => reader.follow(),
    changed: (signal) => reader.changed(signal),
  };
}

function runPieceOf({ stream, offset, bytes }: RingPiece): RunPiece {
  return { stream, offset, ...pieceOf(textOfBytes(bytes), undefined) };
}

const seconds = (milliseconds: number | null) => (milliseconds === null ? null : Math.floor(milliseconds / 1000));

export function sandboxRunOf(run: RunStatus): Omit<SandboxRun, 'actor_name'> {
  return {
    id: run.id,
    instance: run.instance,
    command: run.command,
    language: run.language,
    cwd: run.cwd,
    terminal: run.terminal,
    state: run.state,
    created: Math.floor(run.createdMs / 1000),
    started: seconds(run.startedMs),
    ended: seconds(run.endedMs),
    took_ms: run.tookMs,
    exit_code: run.exitCode,
    timed_out: run.timedOut,
    reason: run.reason,
    woke: run.woke,
    output_bytes: run.outputBytes,
    output_start: run.outputStart,
    actor: run.actor,
  };
}
