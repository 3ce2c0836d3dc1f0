/** Operations on bundles: shipping, checking out, importing, and the list of what left. */

import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import type { Clock } from '../base/clock.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { Bundles } from '../bundles/bundles.ts';
import { leftOutHeader } from '../bundles/left-out.ts';
import type {
  ImportQuery,
  Inspection,
  InstanceSharesQuery,
  Share,
  SharesQuery,
  ShipInput,
} from '../contract/schema/bundles.ts';
import type { ImportedInstance } from '../contract/schema.ts';
import type { Registry } from '../registry/registry.ts';
import type { ShareRow } from '../registry/shares.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { parseVolume } from '../vfs/volumes.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import type { ListPage } from './list-page.ts';
import { endOfMoment } from './moments.ts';
import { createInstanceSerializer } from './serializer.ts';
import type { SizedStream, UploadStream } from './streams.ts';

export interface BundleOperations {
  /** A signed bundle of a sandbox, kept as a share before its first byte goes. Wakes nothing. */
  ship(
    caller: Caller,
    id: InstanceId,
    input: ShipInput,
    signal?: AbortSignal,
  ): Promise<{ share: Share; outgoing: SizedStream; format: 'zip' | 'html' }>;
  /** Newest first. */
  shares(caller: Caller, query: SharesQuery): Promise<ListPage<Share>>;
  instanceShares(caller: Caller, id: InstanceId, query: InstanceSharesQuery): Promise<ListPage<Share>>;
  /** What a file is that someone has. Nothing of it is kept. */
  inspectBundle(caller: Caller, upload: UploadStream, signal?: AbortSignal): Promise<Inspection>;
  /** A new sandbox of a bundle or a bare VFS file. */
  importBundle(
    caller: Caller,
    query: ImportQuery,
    upload: UploadStream,
    signal?: AbortSignal,
  ): Promise<ImportedInstance>;
  /**
   * The workspace as a tar.gz. `leftOut`: what git takes commands from, as a header; null when it had none. `plain`: no
   * file that the workspace has not.
   */
  checkout(
    caller: Caller,
    id: InstanceId,
    signal?: AbortSignal,
    options?: { plain?: boolean },
  ): Promise<{ outgoing: SizedStream; leftOut: string | null }>;
}

export function bundleOperations(parts: {
  auth: { actors: ActorDirectory };
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'live'>;
  clock: Clock;
  bundles: Bundles;
}): BundleOperations {
  const { registry, bundles } = parts;

  const { serialize } = createInstanceSerializer(parts);

  return {
    async ship(caller, id, { include_private: includePrivate = false, at, reason, format = 'zip' }, signal) {
      const shipped = await bundles.ship(
        await requireInstance(parts, id),
        { includePrivate, format, atMs: at === undefined ? null : endOfMoment(at) },
        auditContextOf(caller, reason),
        signal,
      );
      return {
        share: await withActorName(parts.auth.actors, 'actor', shareOf(shipped.share)),
        outgoing: shipped.outgoing,
        format,
      };
    },

    async shares({ tenants }, { tenant, limit, cursor }) {
      const among = { ...(tenant === undefined ? {} : { tenant }), ...(tenants === null ? {} : { tenants }) };
      const { rows, next } = await registry.shares.list(among, limit, cursor);
      return { items: await withActorNames(parts.auth.actors, 'actor', rows.map(shareOf)), next };
    },

    async instanceShares(_caller, id, { limit, cursor }) {
      await requireInstance(parts, id);
      const { rows, next } = await registry.shares.list({ instance: id }, limit, cursor);
      return { items: await withActorNames(parts.auth.actors, 'actor', rows.map(shareOf)), next };
    },

    async inspectBundle({ actor, tenants }, upload, signal) {
      const found = await bundles.inspect((path) => upload.saveTo(path), { actor, tenants }, signal);
      return {
        manifest: found.manifest,
        verified: found.verified,
        signed: found.issuer !== null,
        ...(found.issuer === null ? {} : { issuer: found.issuer }),
        importable: found.faults.length === 0,
        problems: [...found.faults.map(({ message }) => message), ...found.notes],
        ...(found.share === null ? {} : { share: found.share }),
      };
    },

    async importBundle(caller, { tenant, id, name, require_signed }, upload, signal) {
      const input = { id: id ?? newId('sb'), tenant, name: name ?? null, requireSigned: require_signed === 'true' };
      const save = (path: string) => upload.saveTo(path);
      const { made, verification } = await bundles.import(save, input, auditContextOf(caller), signal);
      const { issuer, notes } = verification;
      return { ...(await serialize(made)), imported: { signed: issuer !== null, issuer, notes } };
    },

    async checkout(caller, id, signal, options) {
      const { outgoing, leftOut } = await bundles.checkout(
        await requireInstance(parts, id),
        auditContextOf(caller),
        signal,
        options,
      );
      return { outgoing, leftOut: leftOutHeader(leftOut) };
    },
  };
}

function shareOf(row: ShareRow): Omit<Share, 'actor_name'> {
  return {
    id: row.id,
    instance: row.instance,
    tenant: row.tenant,
    format: 'wbundle/1',
    volumes: row.volumes.map(parseVolume),
    private_included: row.privateIncluded,
    signed: row.issuer !== null,
    issuer: row.issuer,
    sha256: row.sha256,
    bytes: row.bytes,
    members: row.members,
    created: row.created,
    actor: row.actor,
  };
}
