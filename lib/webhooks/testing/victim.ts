/**
 * A process that delivers what is due in a data folder until somebody kills it. Arguments: folder, epoch milliseconds
 * at which its clock stands, the origin that it may send to.
 */
import { FakeClock } from '../../base/clock.ts';
import { startVictim } from '../../testing/victim.ts';

const [folder, time, origin] = process.argv.slice(2);
if (folder === undefined || time === undefined || origin === undefined) throw new Error('folder, time, origin');

await startVictim(folder, 'none', new FakeClock(Number(time)), { WB_OUTGOING_ALLOWED: origin });
// What the engine waits with keeps no process alive.
setInterval(() => {}, 60_000);
