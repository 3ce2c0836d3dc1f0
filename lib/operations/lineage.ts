/**
 * The lineage tree of a sandbox, snapshot or blueprint: up to the first ancestor, down to all descendants. A caller
 * sees only what belongs to its tenants.
 */

import { parseCopyPath } from '../base/copy-paths.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Lineage, LineageNode } from '../contract/schema/copies.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { MEMORY } from '../sandboxes/engine.ts';
import { type DrawerAccess, findFileAt } from '../sandboxes/files/file-locations.ts';
import type { RestingFile } from '../storage/drawer.ts';

type Kind = LineageNode['kind'];
type Ref = { kind: 'instance'; id: InstanceId } | { kind: Exclude<Kind, 'instance'>; id: string };

/** Ancestors shown above. */
const MAX_UP = 16;
const MAX_NODES = 200;
/** Children shown of one. */
const MAX_CHILDREN = 50;

type Found = Ref & {
  node: LineageNode;
  /** What it was made from, or null. */
  parent: Ref | null;
};

const keyOf = ({ kind, id }: Ref) => `${kind}:${id}`;

export class Lineages {
  readonly #registry: Registry;
  readonly #files: DrawerAccess;

  constructor(registry: Registry, files: DrawerAccess) {
    this.#registry = registry;
    this.#files = files;
  }

  /** `tenants`: whose are shown; null: all. What is asked for itself is shown in any case. Throws `not_found`. */
  async of(start: Ref, tenants: readonly string[] | null): Promise<Lineage> {
    const shown = (found: Found | null): found is Found =>
      found !== null && (tenants === null || found.node.tenant === null || tenants.includes(found.node.tenant));
    const above: Found[] = [];
    let truncated = false;
    let at = await this.#find(start);
    if (at === null) throw new WinterdockError('not_found', `There is no ${start.kind} "${start.id}".`);
    for (let next = at?.parent ?? null; next !== null; ) {
      const parent: Found | null = await this.#find(next);
      if (!shown(parent) || above.some((known) => keyOf(known) === keyOf(parent))) break;
      if (above.length === MAX_UP) {
        truncated = true;
        break;
      }
      above.unshift(parent);
      next = parent.parent;
    }
    const nodes = new Map(above.map((found) => [keyOf(found), found]));
    const queue: Found[] = [at];
    for (at = queue.shift() ?? null; at !== null; at = queue.shift() ?? null) {
      if (nodes.has(keyOf(at))) continue;
      if (nodes.size >= MAX_NODES) {
        truncated = true;
        break;
      }
      nodes.set(keyOf(at), at);
      const { children, more } = await this.#children(at, tenants);
      truncated ||= more;
      queue.push(...children.filter(shown));
    }
    const edges = [...nodes.values()].flatMap(({ parent, ...child }) =>
      parent !== null && nodes.has(keyOf(parent)) ? [{ from: keyOf(parent), to: keyOf(child) }] : [],
    );
    return { nodes: [...nodes.values()].map(({ node }) => node), edges, truncated };
  }

  async #find({ kind, id }: Ref): Promise<Found | null> {
    if (kind === 'instance') {
      const row = await this.#registry.instances.get(id);
      return row === null ? null : this.#instance(row);
    }
    return kind === 'snapshot' ? this.#snapshot(id) : this.#blueprint(id);
  }

  async #children(of: Found, tenants: readonly string[] | null): Promise<{ children: Found[]; more: boolean }> {
    const { copies } = this.#registry;
    if (of.kind === 'instance') {
      const filter = { source: of.id, isTaken: true as const, ...(tenants === null ? {} : { tenants }) };
      const { rows, next } = await copies.snapshots(filter, MAX_CHILDREN);
      const found = await Promise.all(rows.map(({ id }) => this.#snapshot(id)));
      return { children: found.filter((child) => child !== null), more: next !== null };
    }
    const { rows, next } = await copies.descendants(
      of.kind === 'snapshot' ? { snapshot: of.id } : { blueprint: of.id },
      MAX_CHILDREN,
    );
    return { children: await Promise.all(rows.map((row) => this.#instance(row))), more: next !== null };
  }

  async #instance(row: InstanceRow): Promise<Found> {
    const snapshot = row.lineageSnapshot;
    const blueprint = row.lineageBlueprint;
    const isShared = row.vfsPath !== null && parseCopyPath(row.vfsPath) !== null;
    return {
      kind: 'instance',
      id: row.id,
      parent:
        snapshot !== null
          ? { kind: 'snapshot', id: snapshot }
          : blueprint !== null
            ? { kind: 'blueprint', id: blueprint }
            : null,
      node: {
        kind: 'instance',
        id: row.id,
        label: row.name,
        tenant: row.tenant,
        state: row.state,
        deleted: row.state === 'deleted',
        bytes: row.bytes,
        disk_bytes: isShared ? 0 : await this.#bytesOfRow(row),
        created: row.created,
      },
    };
  }

  async #snapshot(id: string): Promise<Found | null> {
    const row = await this.#registry.copies.snapshot(id);
    if (row === null) return null;
    return {
      kind: 'snapshot',
      id,
      parent: { kind: 'instance', id: row.source },
      node: {
        kind: 'snapshot',
        id,
        label: row.tag,
        tenant: row.tenant,
        state: null,
        deleted: row.deleted !== null,
        bytes: row.bytes,
        disk_bytes: await allocatedBytes(this.#files.drawers.snapshot.at(row.hash)),
        created: row.created,
      },
    };
  }

  /** A blueprint is every tenant's; its source is not shown here. */
  async #blueprint(name: string): Promise<Found> {
    const row = await this.#registry.copies.blueprint(name);
    return {
      kind: 'blueprint',
      id: name,
      parent: null,
      node: {
        kind: 'blueprint',
        id: name,
        label: name,
        tenant: null,
        state: null,
        deleted: row === null,
        bytes: row?.bytes ?? null,
        disk_bytes: row === null ? null : await allocatedBytes(this.#files.drawers.blueprint.at(row.hash)),
        created: row?.created ?? null,
      },
    };
  }

  async #bytesOfRow({ id, vfsPath }: InstanceRow): Promise<number | null> {
    const file = vfsPath === null || vfsPath === MEMORY ? null : findFileAt(this.#files, id, vfsPath);
    return file === null ? null : allocatedBytes(file);
  }
}

/** What a file takes up where it is kept, or null when there is none. */
async function allocatedBytes(file: RestingFile): Promise<number | null> {
  try {
    return await file.allocatedBytes();
  } catch {
    // The drawer cannot be reached: the size is unknown, and waking the sandbox reports the cause.
    return null;
  }
}
