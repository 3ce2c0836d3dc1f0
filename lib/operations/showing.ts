/** Rows as the contract's Instances, with the live facts and thresholds that belong to them. */
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Instance } from '../contract/schema.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, Thresholds } from '../registry/types.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { instanceOf } from './representation.ts';

export interface Showing {
  /** `known`: the thresholds of its tenant, when they were looked up already. */
  show(row: InstanceRow, known?: Thresholds): Promise<Instance>;
  showAll(rows: InstanceRow[]): Promise<Instance[]>;
}

export function showing(parts: { registry: Registry; sessions: Pick<Sessions, 'live'>; clock: Clock }): Showing {
  const { registry, sessions, clock } = parts;
  const show = async (row: InstanceRow, known?: Thresholds): Promise<Instance> =>
    instanceOf(row, sessions.live(row), known ?? (await registry.thresholds.ofTenant(row.tenant)), epochSeconds(clock));
  return {
    show,
    async showAll(rows) {
      const byTenant = new Map<string, Thresholds>();
      for (const { tenant } of rows) {
        if (!byTenant.has(tenant)) byTenant.set(tenant, await registry.thresholds.ofTenant(tenant));
      }
      return Promise.all(rows.map((row) => show(row, byTenant.get(row.tenant))));
    },
  };
}
