/**
 * Blueprints: read-only bases for clones, made from a sandbox's workspace or an uploaded file. Knows nothing of HTTP.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Bundles, SaveUpload } from '../bundles/bundles.ts';
import type { BlueprintRow, CopyContent } from '../registry/copies.ts';
import { carriedNames } from '../registry/environments.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry, RowPage } from '../registry/types.ts';
import { elapsedMs, requireInstance } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { ReadAnswer, ReadRequest, VfsCopy } from '../vfs/types.ts';
import { VOLUME_CONTRACTS, VOLUMES } from '../vfs/volumes.ts';
import { DEFAULT_POLICY } from '../workers/protocol/policies.ts';
import type { Copies } from './copies.ts';
import { type SeededAs, type Seeding, seededAs } from './seeding.ts';

interface CloneRequest extends SeededAs {
  tenant: string;
  /** 1 to 1 000; default 1. */
  count?: number;
  name?: string;
  start?: boolean;
}

interface NewBlueprint {
  name: string;
  /** What its clones are set to of their replicas; null: nothing. */
  replicate: string | null;
}

export interface Blueprints {
  /**
   * Makes one from the volumes of a sandbox that may be shared: not from its memory, because every tenant may use a
   * blueprint. Works in any state and wakes nothing. Throws `conflict` for a taken name, and what a snapshot throws.
   */
  fromInstance(made: NewBlueprint, instance: InstanceId, cause: AuditContext): Promise<BlueprintRow>;
  /**
   * Makes one from a bundle or a VFS file, which `save` writes to the given path. Throws `validation` when it is
   * neither, and `conflict` for a taken name.
   */
  fromUpload(made: NewBlueprint, save: SaveUpload, cause: AuditContext): Promise<BlueprintRow>;
  get(name: string): Promise<BlueprintRow>;
  /** Answers one read of what is in it. Throws `not_found`, `missing_file`, `corrupt`. */
  read<R extends ReadRequest>(name: string, request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
  list(limit: number, cursor?: string): Promise<RowPage<BlueprintRow>>;
  /** Clones keep what they have. Throws `not_found`. */
  delete(name: string, cause: AuditContext): Promise<void>;
  /** New sandboxes, all or none. Throws `not_found`, `conflict`, `corrupt`, `missing_file`, `validation`. */
  clone(name: string, request: CloneRequest, cause: AuditContext): Promise<InstanceRow[]>;
}

/** Whose turn a read takes when the blueprint was uploaded and is no tenant's. */
const NOBODYS = 'blueprints';
const SHARED_VOLUMES = VOLUMES.filter((volume) => VOLUME_CONTRACTS[volume].ships);

/** Makes them. */
export function createBlueprints(parts: {
  clock: Clock;
  registry: Registry;
  bundles: Pick<Bundles, 'importFile'>;
  sandboxes: Pick<Sandboxes, 'copyOut'>;
  copies: Copies;
  seeding: Seeding;
}): Blueprints {
  const { clock, registry, bundles, sandboxes, copies, seeding } = parts;

  const get = async (name: string): Promise<BlueprintRow> => {
    const row = await registry.copies.blueprint(name);
    if (row !== null) return row;
    throw new WinterdockError('not_found', `There is no blueprint "${name}".`);
  };
  const requireFree = async (name: string): Promise<void> => {
    if ((await registry.copies.blueprint(name)) === null) return;
    throw new WinterdockError('conflict', `There is a blueprint "${name}" already.`, {
      hint: 'Choose another name, or delete that blueprint.',
    });
  };

  const keep = async (
    { name, replicate }: NewBlueprint,
    source: { id: InstanceId; tenant: string } | null,
    make: (path: string) => Promise<VfsCopy>,
    cause: AuditContext,
    namesOf: () => Promise<readonly string[]>,
    origin: () => string = () => '',
  ): Promise<BlueprintRow> => {
    const started = performance.now();
    const entry = (type: string, extra: Partial<LedgerEntry>) => ledgerEntry(parts, source, cause, type, extra);
    const claim = async (content: CopyContent): Promise<BlueprintRow> => {
      const row: BlueprintRow = {
        ...content,
        name,
        tenant: source?.tenant ?? null,
        source: source?.id ?? null,
        created: epochSeconds(clock),
        actor: cause.actor,
        replicate,
      };
      const summary = `${name}, sha256:${row.hash}, ${row.bytes} bytes${origin()}`;
      await registry.copies.addBlueprint(row, entry('blueprint.made', { reason: summary, tookMs: elapsedMs(started) }));
      return row;
    };
    let made: BlueprintRow;
    try {
      await requireFree(name);
      made = await copies.keep('blueprint', make, claim);
    } catch (error) {
      await registry.ledger.append([entry('blueprint.failed', { reason: name, error: publicMessage(error) })]);
      throw error;
    }
    const owner = { kind: 'blueprint', owner: name, tenant: made.tenant } as const;
    await registry.environments.want(owner, await namesOf(), { now: made.created, actor: cause.actor });
    return made;
  };

  return {
    async fromInstance(wanted, instance, cause) {
      const source = await requireInstance(parts, instance);
      const copyTo = (path: string) => sandboxes.copyOut(instance, path, { volumes: SHARED_VOLUMES });
      return keep(wanted, source, copyTo, cause, async () => carriedNames(await registry.environments.of(instance)));
    },
    fromUpload(wanted, save, cause) {
      let names: readonly string[] = [];
      let from = '';
      const importTo = async (path: string) => {
        const { env, origin, ...copied } = await bundles.importFile(save, path, cause.actor);
        names = env;
        from = `, ${origin}`;
        return copied;
      };
      return keep(
        wanted,
        null,
        importTo,
        cause,
        async () => names,
        () => from,
      );
    },
    get,
    async read(name, request) {
      const row = await get(name);
      return copies.read('blueprint', row.hash, request, row.tenant ?? NOBODYS);
    },
    list: async (limit, cursor) => registry.copies.blueprints(limit, cursor),
    async delete(name, cause) {
      const row = await get(name);
      const entry = ledgerEntry(parts, null, cause, 'blueprint.deleted', {
        instance: row.source,
        tenant: row.tenant,
        reason: name,
      });
      if (!(await registry.copies.deleteBlueprint(name, entry))) await get(name);
      await copies.sweep();
    },
    async clone(name, request, cause) {
      const row = await get(name);
      await copies.requireIntact('blueprint', name, row);
      return seeding.seed(
        { blueprint: name },
        {
          tenant: request.tenant,
          count: request.count ?? 1,
          name: request.name ?? null,
          policy: DEFAULT_POLICY,
          lineage: { blueprint: name, snapshot: null, parent: null },
          replicate: row.replicate,
          start: request.start ?? false,
          ...seededAs(request),
        },
        cause,
      );
    },
  };
}
