/**
 * A process that appends ledger lines and delivers them until somebody kills it. Arguments: folder, origin that it may
 * send to, and a name for its lines. Writes a dot for each append that was answered.
 */
import { FakeClock } from '../../base/clock.ts';
import { entry } from '../../registry/testing/fixtures.ts';
import { startVictim } from '../../testing/victim.ts';

const [folder, origin, name] = process.argv.slice(2);
if (folder === undefined || origin === undefined || name === undefined) throw new Error('folder, origin, name');

const host = await startVictim(folder, 'none', new FakeClock(Date.now()), {
  WB_OUTGOING_ALLOWED: origin,
  WB_TICK_MS: '50',
});
for (let nth = 0; ; nth += 1) {
  // One line, or some in one transaction.
  const lines = Array.from({ length: 1 + (nth % 3) }, (_, of) =>
    entry({ type: 'note.made', timeMs: Date.now(), reason: `${name}.${nth}.${of}` }),
  );
  await host.registry.ledger.append(lines);
  process.stdout.write('.');
  await new Promise((resolve) => setTimeout(resolve, nth % 10));
}
