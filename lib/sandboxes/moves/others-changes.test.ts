/** What an engine keeps of the settings of tenants, when another process may have changed them and no line says so. */
import { expect, test } from 'vitest';
import type { CommitEvents } from '../../registry/commit-events.ts';
import { entry } from '../../registry/testing/fixtures.ts';
import { stage } from '../testing/stage.ts';

const at = stage();
/** A line that nobody takes for a change of settings. */
const silent = entry({ type: 'note', instance: 'nobody' });

const TOLD: [string, (events: CommitEvents) => void][] = [
  ['others may have changed something', (events) => events.emitStale()],
  ['nothing is heard of others', (events) => events.hearBy(() => false)],
];

test.each(TOLD)('when %s, a quota of processor time holds with the next call', async (_, tell) => {
  const { dock } = at;
  const limit = (maxDailyCpuSeconds: number, line = silent) =>
    dock.registry.quotas.set('acme', { maxDailyCpuSeconds }, line);
  await dock.create('a', { tenant: 'acme' });
  await limit(1000, entry({ type: 'tenant.changed', tenant: 'acme' }));
  for (let n = 0; n < 2; n += 1) expect(await dock.run('a', 'echo on')).toBe('on\n');
  await limit(0);
  tell(dock.registry.commitEvents);
  await expect(dock.run('a', 'echo on')).rejects.toMatchObject({ code: 'quota_exceeded' });
  await limit(1000);
  tell(dock.registry.commitEvents);
  expect(await dock.run('a', 'echo on')).toBe('on\n');
});

test.each(TOLD)('when %s, a threshold holds with the next round', async (_, tell) => {
  const { dock } = at;
  await dock.create('a', { tenant: 'acme' });
  await dock.run('a', 'true');
  dock.clock.advance(10);
  await dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('hot');
  await dock.registry.thresholds.setGlobal({ hotToWarmSeconds: 5 }, silent);
  tell(dock.registry.commitEvents);
  await dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('warm');
});
