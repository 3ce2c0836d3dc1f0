/**
 * A process that fires what falls due in a data folder within an hour and kills itself with SIGKILL at a step.
 * Arguments: folder, epoch seconds at which its clock begins, step.
 */
import { FakeClock } from '../../base/clock.ts';
import { startVictim } from '../../testing/victim.ts';

const [folder, time, step] = process.argv.slice(2);
if (folder === undefined || time === undefined || step === undefined) throw new Error('folder, time, step');

const clock = new FakeClock(Number(time) * 1000);
const host = await startVictim(folder, step, clock);
// Nothing falls due before the failpoints are armed.
clock.advance(3600);
for (let round = 0; round < 3; round += 1) {
  await host.scheduler.tick();
  await host.scheduler.idle();
}
await host.stop();
