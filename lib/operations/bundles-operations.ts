/** The operations about bundles over the real engine: contract input in, contract objects out. */

import type { Clock } from '../base/clock.ts';
import { newId } from '../base/ids.ts';
import type { Bundles } from '../bundles/bundles.ts';
import type { Share } from '../contract/schema/bundles.ts';
import type { Registry } from '../registry/registry.ts';
import type { ShareRow } from '../registry/shares.ts';
import { requireInstance } from '../sessions/engine.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { asVolume } from '../vfs/volumes.ts';
import { causeOf } from './audit-context.ts';
import type { BundlesOperations } from './interfaces/bundles.ts';
import { showing } from './showing.ts';

/** Makes them. */
export function bundlesOperations(parts: {
  registry: Registry;
  sessions: Pick<Sessions, 'live'>;
  clock: Clock;
  bundles: Bundles;
}): BundlesOperations {
  const { registry, bundles } = parts;

  const { show } = showing(parts);

  return {
    async ship(caller, id, { include_private: includePrivate = false, reason }, signal) {
      const shipped = await bundles.ship(
        await requireInstance(parts, id),
        includePrivate,
        causeOf(caller, reason),
        signal,
      );
      return { share: shareOf(shipped.share), outgoing: shipped.outgoing };
    },

    async shares({ tenants }, { tenant, limit, cursor }) {
      const among = { ...(tenant === undefined ? {} : { tenant }), ...(tenants === null ? {} : { tenants }) };
      const { rows, next } = await registry.shares.list(among, limit, cursor);
      return { items: rows.map(shareOf), next };
    },

    async instanceShares(_caller, id, { limit, cursor }) {
      await requireInstance(parts, id);
      const { rows, next } = await registry.shares.list({ instance: id }, limit, cursor);
      return { items: rows.map(shareOf), next };
    },

    async inspectBundle({ actor, tenants }, upload, signal) {
      const found = await bundles.inspect((path) => upload.saveTo(path), { actor, tenants }, signal);
      return {
        manifest: found.manifest,
        verified: found.verified,
        ...(found.issuer === null ? {} : { issuer: found.issuer }),
        importable: found.faults.length === 0,
        problems: [...found.faults.map(({ message }) => message), ...found.notes],
        ...(found.share === null ? {} : { share: found.share }),
      };
    },

    async importBundle(caller, { tenant, id, name }, upload, signal) {
      const input = { id: id ?? newId('sb'), tenant, name: name ?? null };
      return show(await bundles.import((path) => upload.saveTo(path), input, causeOf(caller), signal));
    },

    checkout: async (caller, id, signal) => bundles.checkout(await requireInstance(parts, id), causeOf(caller), signal),
  };
}

function shareOf(row: ShareRow): Share {
  return {
    id: row.id,
    instance: row.instance,
    tenant: row.tenant,
    format: 'wbundle/1',
    volumes: row.volumes.map(asVolume),
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
