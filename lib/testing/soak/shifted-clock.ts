/**
 * For tests: loaded before the server, it shifts what `Date` says by the milliseconds that stand in a file, read again
 * and again, so that a whole process lives through a jump of the system's clock. Nothing else is changed: timers go on
 * as they were.
 */
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 5;
const path = process.env.WINTERDOCK_TEST_CLOCK;

if (path !== undefined) {
  let shift = 0;
  const look = () => {
    try {
      shift = Number(readFileSync(path, 'utf8')) || 0;
    } catch {
      // Being written: the last one holds.
    }
  };
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
  const TrueDate = Date;
  const now = () => TrueDate.now() + shift;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, values, made) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, made) as object,
    apply: () => new TrueDate(now()).toString(),
    get: (target, member) => (member === 'now' ? now : Reflect.get(target, member)),
  });
}
