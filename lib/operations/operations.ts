/**
 * The operations that the HTTP handlers, the console's pages and its server actions all call: validated input in,
 * contract objects out, one permission question each. The only door from `app/` into the engine.
 */

import type { Caller } from '../auth/caller.ts';
import type {
  AttachmentAnswer,
  CreateInput,
  DeleteInput,
  EvalAnswer,
  EvalInput,
  Event,
  EventsQuery,
  ExecAnswer,
  ExecInput,
  FileInfo,
  FolderItem,
  Instance,
  ListQuery,
  PatchInput,
  PrefetchAnswer,
  ResumeAnswer,
  ResumeInput,
  SearchHit,
  Settings,
  SqlAnswer,
  SqlInput,
  StreamQuery,
  VerbInput,
  VolumeInfo,
} from '../contract/schema.ts';
import type { State } from '../lifecycle/states.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { AccessOperations } from './interfaces/access.ts';
import type { BundlesOperations } from './interfaces/bundles.ts';
import type { CopiesOperations } from './interfaces/copies.ts';
import type { JobsOperations } from './interfaces/jobs.ts';
import type { LedgerOperations } from './interfaces/ledger.ts';
import type { RepairsOperations } from './interfaces/repairs.ts';
import type { StorageOperations } from './interfaces/storage.ts';
import type { TenantsOperations } from './interfaces/tenants.ts';
import type { OutputPiece } from './outputs.ts';

export interface FileContent {
  stat: FileInfo & { version: number; etag: string };
  content: Uint8Array;
}

interface DueSpan {
  from: number;
  until: number;
  to: Readonly<Record<'suspended' | 'frozen' | 'archived' | 'deleted', number>>;
}

/** Every operation there is. The parts other than the engine's are each in a file of its own. */
export interface Operations
  extends EngineOperations,
    AccessOperations,
    LedgerOperations,
    CopiesOperations,
    BundlesOperations,
    RepairsOperations,
    JobsOperations,
    TenantsOperations,
    StorageOperations {}

/** Of sandboxes: their rows, moves, calls and files, the ledger's lines, the settings. */
export interface EngineOperations {
  listInstances(
    caller: Caller,
    query: ListQuery,
  ): Promise<{ items: Instance[]; next: string | null; total: number; totalIsExact: boolean }>;
  createInstance(caller: Caller, input: CreateInput): Promise<Instance>;
  getInstance(caller: Caller, id: string): Promise<Instance>;
  /** `ifMatch`: the tags of which one must still hold; throws `precondition_failed`. */
  patchInstance(
    caller: Caller,
    id: string,
    input: PatchInput,
    condition?: { ifMatch?: string | null },
  ): Promise<Instance>;
  resume(caller: Caller, id: string, input: ResumeInput): Promise<ResumeAnswer>;
  prefetch(caller: Caller, id: string): Promise<PrefetchAnswer>;
  suspend(caller: Caller, id: string, input: VerbInput): Promise<Instance>;
  freeze(caller: Caller, id: string, input: VerbInput): Promise<Instance>;
  archive(caller: Caller, id: string, input: VerbInput): Promise<Instance>;
  revive(caller: Caller, id: string, input: VerbInput): Promise<Instance>;
  /** Rolls an operation that was interrupted forward or back. Throws `conflict` while it is really under way. */
  settle(caller: Caller, id: string): Promise<Instance>;
  deleteInstance(caller: Caller, id: string, input?: DeleteInput): Promise<void>;
  exec(
    caller: Caller,
    id: string,
    input: ExecInput,
    options?: {
      onWoke?: (woken: { woke: string; wokeMs: number; from: State | null }) => void;
      onOutput?: (piece: OutputPiece & { stream: 'stdout' | 'stderr' }) => void;
      signal?: AbortSignal;
    },
  ): Promise<ExecAnswer>;
  eval(caller: Caller, id: string, input: EvalInput, signal?: AbortSignal): Promise<EvalAnswer>;
  /** Holds it as it is while a terminal is open: begins or renews an attachment. Wakes nothing. */
  attach(caller: Caller, id: string, attachment: string): Promise<AttachmentAnswer>;
  /** Ends an attachment; one that has ended already changes nothing. */
  detach(caller: Caller, id: string, attachment: string): Promise<void>;
  instanceEvents(
    caller: Caller,
    id: string,
    query: { type?: string; limit: number; cursor?: string },
  ): Promise<{ items: Event[]; next: string | null }>;
  volumes(caller: Caller, id: string): Promise<VolumeInfo[]>;
  files(
    caller: Caller,
    id: string,
    volume: Volume,
    query: { prefix?: string; limit: number; cursor?: string },
  ): Promise<{ items: FileInfo[]; next: string | null }>;
  /**
   * What lies directly in a folder: folders first, each kind by name. Throws `not_found`, and `conflict` for what is no
   * folder.
   */
  folder(
    caller: Caller,
    id: string,
    volume: Volume,
    query: { path: string; limit: number; cursor?: string },
  ): Promise<{ items: FolderItem[]; next: string | null; total: number }>;
  /** Throws `not_found` when there is no such file. `range` in bytes, end inclusive. */
  file(
    caller: Caller,
    id: string,
    volume: Volume,
    path: string,
    range?: { start: number; end: number },
  ): Promise<FileContent>;
  fileStat(caller: Caller, id: string, volume: Volume, path: string): Promise<FileContent['stat']>;
  putFile(
    caller: Caller,
    id: string,
    volume: Volume,
    path: string,
    content: Uint8Array,
    condition?: { ifMatch?: string; ifNoneMatch?: string },
  ): Promise<{ created: boolean; etag: string }>;
  deleteFile(
    caller: Caller,
    id: string,
    volume: Volume,
    path: string,
    condition?: { ifMatch?: string; ifNoneMatch?: string },
  ): Promise<void>;
  /** Moves a file or a whole folder; never onto something. */
  moveFile(caller: Caller, id: string, volume: Volume, from: string, to: string): Promise<void>;
  /** Makes a folder with what is missing above it. Throws `conflict` when something is there. */
  makeFolder(caller: Caller, id: string, volume: Volume, path: string): Promise<void>;
  /**
   * Removes an empty folder, or with `recursive` one with all in it. Throws `not_found`; `conflict` for the root and
   * what is not empty.
   */
  deleteFolder(caller: Caller, id: string, volume: Volume, path: string, recursive: boolean): Promise<void>;
  search(
    caller: Caller,
    id: string,
    query: { q: string; volume?: Volume; in: 'name' | 'content'; limit: number },
  ): Promise<{ hits: SearchHit[]; truncated: boolean }>;
  query(caller: Caller, id: string, input: SqlInput): Promise<SqlAnswer>;
  events(caller: Caller, query: EventsQuery): Promise<{ items: Event[]; next: string | null }>;
  /** Lines after `seq` that the caller may see, oldest first; empty at the end, never before. */
  eventsAfter(caller: Caller, seq: number, limit: number): Promise<Event[]>;
  /** What a stream of the ledger sends to this caller: the filter, narrowed to the tenants it may see (null: all). */
  followEvents(
    caller: Caller,
    filter: Omit<StreamQuery, 'last_event_id'>,
  ): Promise<{ filter: Omit<StreamQuery, 'last_event_id'>; tenants: readonly string[] | null }>;
  getSettings(caller: Caller): Promise<Settings>;
  patchSettings(caller: Caller, patch: Partial<Settings>): Promise<Settings>;
  /**
   * What the overview shows of what the caller may see: instances per state and fault, maintained, never scanned, and
   * operations under way, of these the stuck ones apart (up to 10 001).
   */
  counts(caller: Caller): Promise<{
    states: Record<State, number>;
    faults: Record<string, number>;
    pending: number;
    stuck: number;
  }>;
  /** Sandboxes with an automatic move within `withinSeconds`, soonest first. */
  due(caller: Caller, withinSeconds: number, limit: number): Promise<Instance[]>;
  /**
   * How many move by themselves in each of the coming `slots` spans of `seconds`, by where to; what is overdue counts
   * in the first. `from` and `until` in epoch seconds, both inclusive.
   */
  dueCounts(caller: Caller, ask: { seconds: number; slots: number }): Promise<DueSpan[]>;
  /** The metrics in the Prometheus text format. */
  metricsText(caller: Caller): Promise<string>;
}
