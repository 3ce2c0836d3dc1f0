/** Operations on copies: snapshots, blueprints, and the lineage of what came from what. */

import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
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
} from '../contract/schema/copies.ts';
import type { Instance } from '../contract/schema.ts';
import type { Blueprints } from '../copies/blueprints.ts';
import type { SeededAs } from '../copies/seeding.ts';
import type { Snapshots } from '../copies/snapshots.ts';
import type { BlueprintRow, CopyContent, SnapshotRow } from '../registry/copies.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import type { Drawers } from '../storage/drawer.ts';
import type { VfsPath } from '../vfs/paths.ts';
import { parseVolume } from '../vfs/volumes.ts';
import { withActorName } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import { Lineages } from './lineage.ts';
import type { ListPage } from './list-page.ts';
import { createInstanceSerializer } from './serializer.ts';
import type { UploadStream } from './streams.ts';

export interface CopyOperations {
  /** Keeps what a sandbox holds now. It keeps running, or sleeping. */
  takeSnapshot(caller: Caller, id: InstanceId, input: TakeSnapshotInput): Promise<Snapshot>;
  /** Newest first. */
  listSnapshots(caller: Caller, query: SnapshotsQuery): Promise<ListPage<Snapshot>>;
  getSnapshot(caller: Caller, id: string): Promise<Snapshot>;
  deleteSnapshot(caller: Caller, id: string): Promise<void>;
  /** New sandboxes in the order of their names, all or none. */
  restoreSnapshot(caller: Caller, id: string, input: RestoreInput, made?: SeededAs): Promise<Instance[]>;

  createBlueprint(caller: Caller, input: CreateBlueprintInput): Promise<Blueprint>;
  /** From the SQLite file of a sandbox. */
  uploadBlueprint(
    caller: Caller,
    made: Pick<CreateBlueprintInput, 'name' | 'replicate'>,
    upload: UploadStream,
  ): Promise<Blueprint>;
  listBlueprints(caller: Caller, query: BlueprintsQuery): Promise<ListPage<Blueprint>>;
  getBlueprint(caller: Caller, name: string): Promise<Blueprint>;
  deleteBlueprint(caller: Caller, name: string): Promise<void>;
  cloneBlueprint(caller: Caller, name: string, input: CloneInput, made?: SeededAs): Promise<Instance[]>;
  /** The files of its workspace, by path. */
  blueprintFiles(
    caller: Caller,
    name: string,
    query: { limit: number; cursor?: string },
  ): Promise<ListPage<{ path: string; size: number; mtime: number }>>;
  /** A file of its workspace. Throws `not_found` for a blueprint or a file that there is not. */
  blueprintFile(caller: Caller, name: string, path: VfsPath): Promise<Uint8Array>;

  /** What a sandbox came from and what came from it: sandboxes and the copies between them. */
  instanceLineage(caller: Caller, id: InstanceId): Promise<Lineage>;
  snapshotLineage(caller: Caller, id: string): Promise<Lineage>;
  blueprintLineage(caller: Caller, name: string): Promise<Lineage>;
}

export function copyOperations(parts: {
  auth: { actors: ActorDirectory };
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'live'>;
  clock: Clock;
  snapshots: Snapshots;
  blueprints: Blueprints;
  config: Pick<Config, 'dataFolder'>;
  drawers: Drawers;
}): CopyOperations {
  const { registry, snapshots, blueprints } = parts;
  const { serializeAll } = createInstanceSerializer(parts);
  const lineages = new Lineages(registry, parts);

  const named = <Copy extends { actor: string }>(copy: Copy) => withActorName(parts.auth.actors, 'actor', copy);
  const snapshotOf = async (row: SnapshotRow): Promise<Snapshot> =>
    named({
      id: row.id,
      tenant: row.tenant,
      tag: row.tag,
      source: row.source,
      ...contentOf(row),
      created: row.created,
      actor: row.actor,
      instances: await registry.copies.countDescendants({ snapshot: row.id }),
    });
  /** Blueprints are every tenant's; their source is shown only to callers who may see the source's tenant. */
  const blueprintOf = async ({ tenants }: Caller, row: BlueprintRow): Promise<Blueprint> =>
    named({
      name: row.name,
      tenant: tenants === null || tenants.includes(row.tenant ?? '') ? row.tenant : null,
      source: tenants === null || tenants.includes(row.tenant ?? '') ? row.source : null,
      replicate: row.replicate,
      ...contentOf(row),
      created: row.created,
      actor: row.actor,
      instances: await registry.copies.countDescendants({ blueprint: row.name }),
    });

  return {
    takeSnapshot: async (caller, id, { tag }) =>
      snapshotOf(await snapshots.take(id, tag ?? null, auditContextOf(caller))),
    async listSnapshots({ tenants }, { limit, cursor, ...filter }) {
      const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
      const among = tenants === null || filter.tenant !== undefined ? given : { ...given, tenants };
      const { rows, next } = await snapshots.list(among, limit, cursor);
      return { items: await Promise.all(rows.map(snapshotOf)), next };
    },
    getSnapshot: async (_caller, id) => snapshotOf(await snapshots.get(id)),
    deleteSnapshot: (caller, id) => snapshots.delete(id, auditContextOf(caller)),
    restoreSnapshot: async (caller, id, input, made) =>
      serializeAll(await snapshots.restore(id, { ...input, ...made }, auditContextOf(caller))),

    createBlueprint: async (caller, { name, from_instance: instance, replicate = null }) =>
      blueprintOf(caller, await blueprints.fromInstance({ name, replicate }, instance, auditContextOf(caller))),
    async uploadBlueprint(caller, { name, replicate = null }, upload) {
      const save = (path: string) => upload.saveTo(path);
      return blueprintOf(caller, await blueprints.fromUpload({ name, replicate }, save, auditContextOf(caller)));
    },
    async listBlueprints(caller, { limit, cursor }) {
      const { rows, next } = await blueprints.list(limit, cursor);
      return { items: await Promise.all(rows.map((row) => blueprintOf(caller, row))), next };
    },
    getBlueprint: async (caller, name) => blueprintOf(caller, await blueprints.get(name)),
    deleteBlueprint: (caller, name) => blueprints.delete(name, auditContextOf(caller)),
    cloneBlueprint: async (caller, name, input, made) =>
      serializeAll(await blueprints.clone(name, { ...input, ...made }, auditContextOf(caller))),

    async blueprintFiles(_caller, name, { limit, cursor }) {
      const after = cursor === undefined ? {} : { after: cursor };
      const { files, next } = await blueprints.read(name, { op: 'list', volume: 'workspace', limit, ...after });
      return { items: files, next };
    },
    async blueprintFile(_caller, name, path) {
      const { stat, content } = await blueprints.read(name, { op: 'get', volume: 'workspace', path });
      if (stat !== null) return content ?? new Uint8Array();
      throw new WinterdockError('not_found', `There is no file "${path}" in the blueprint "${name}".`);
    },

    async instanceLineage({ tenants }, id) {
      return lineages.of({ kind: 'instance', id }, tenants);
    },
    async snapshotLineage({ tenants }, id) {
      return lineages.of({ kind: 'snapshot', id }, tenants);
    },
    async blueprintLineage({ tenants }, name) {
      await blueprints.get(name);
      return lineages.of({ kind: 'blueprint', id: name }, tenants);
    },
  };
}

function contentOf(row: CopyContent): Pick<Snapshot, 'hash' | 'bytes' | 'volumes' | 'contents'> {
  const contents = row.volumes.map((part) => ({ ...part, volume: parseVolume(part.volume) }));
  return {
    hash: `sha256:${row.hash}`,
    bytes: row.bytes,
    volumes: contents.filter(({ files }) => files > 0).map(({ volume }) => volume),
    contents,
  };
}
