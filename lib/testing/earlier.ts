/** For tests: rows as earlier versions left them, which took policies and workbooks that are not offered. */
import { epochSeconds } from '../base/clock.ts';
import type { Host } from '../host/host.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { instanceId } from './plain-ids.ts';

/** Gives the sandbox what an earlier version would have taken. */
export async function hadBefore(
  { registry, clock }: Pick<Host, 'registry' | 'clock'>,
  id: string,
  had: { policy?: string; workbook?: string },
): Promise<void> {
  const row = await registry.instances.get(instanceId(id));
  await registry.instances.patch(
    instanceId(id),
    had,
    epochSeconds(clock),
    ledgerEntry({ clock }, row, systemAudit('request'), 'instance.changed'),
  );
}
