/** The operations about copies: snapshots, blueprints, and what came from what. */
import type { Caller } from '../../auth/caller.ts';
import type {
  Blueprint,
  BlueprintsQuery,
  CloneInput,
  CreateBlueprintInput,
  Lineage,
  RestoreInput,
  Snapshot,
  SnapshotsQuery,
  TakeSnapshotInput,
} from '../../contract/schema/copies.ts';
import type { Instance } from '../../contract/schema.ts';
import type { Upload } from '../../operations/streams.ts';

export interface CopiesOperations {
  /** Keeps what a sandbox holds now. It keeps running, or sleeping. */
  takeSnapshot(caller: Caller, id: string, input: TakeSnapshotInput): Promise<Snapshot>;
  /** Newest first. */
  listSnapshots(caller: Caller, query: SnapshotsQuery): Promise<{ items: Snapshot[]; next: string | null }>;
  getSnapshot(caller: Caller, id: string): Promise<Snapshot>;
  deleteSnapshot(caller: Caller, id: string): Promise<void>;
  /** New sandboxes in the order of their names, all or none. */
  restoreSnapshot(caller: Caller, id: string, input: RestoreInput): Promise<Instance[]>;

  createBlueprint(caller: Caller, input: CreateBlueprintInput): Promise<Blueprint>;
  /** From the SQLite file of a sandbox. */
  uploadBlueprint(caller: Caller, name: string, upload: Upload): Promise<Blueprint>;
  listBlueprints(caller: Caller, query: BlueprintsQuery): Promise<{ items: Blueprint[]; next: string | null }>;
  getBlueprint(caller: Caller, name: string): Promise<Blueprint>;
  deleteBlueprint(caller: Caller, name: string): Promise<void>;
  cloneBlueprint(caller: Caller, name: string, input: CloneInput): Promise<Instance[]>;

  /** What a sandbox came from and what came from it: sandboxes and the copies between them. */
  instanceLineage(caller: Caller, id: string): Promise<Lineage>;
  snapshotLineage(caller: Caller, id: string): Promise<Lineage>;
  blueprintLineage(caller: Caller, name: string): Promise<Lineage>;
}
