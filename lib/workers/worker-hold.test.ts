import { expect, test } from 'vitest';
import { HeldSignals, WorkerHold } from './worker-hold.ts';

function worker() {
  const sent: string[] = [];
  return { sent, signals: new HeldSignals((name) => sent.push(name)) };
}

test('all workers are stopped and let go on, those that come meanwhile too, and not those that have ended', () => {
  const hold = new WorkerHold();
  const [one, two, ended] = [worker(), worker(), worker()];
  hold.add(one.signals);
  hold.add(ended.signals)();
  hold.hold();
  hold.hold();
  hold.add(two.signals);
  expect([one.signals.isHeld, two.signals.isHeld, ended.signals.isHeld]).toEqual([true, true, false]);
  hold.letGo();
  hold.letGo();
  expect([one.sent, two.sent, ended.sent]).toEqual([['SIGSTOP', 'SIGCONT'], ['SIGSTOP', 'SIGCONT'], []]);
});

test('what somebody else lets go on meanwhile goes on with the others', () => {
  const { sent, signals } = worker();
  signals.signal('SIGSTOP');
  signals.hold();
  signals.signal('SIGCONT');
  expect(sent).toEqual(['SIGSTOP', 'SIGSTOP']);
  signals.letGo();
  expect(sent).toEqual(['SIGSTOP', 'SIGSTOP', 'SIGCONT']);
});

test('what somebody else has stopped stays so', () => {
  const { sent, signals } = worker();
  signals.hold();
  signals.signal('SIGSTOP');
  signals.letGo();
  expect(sent).toEqual(['SIGSTOP', 'SIGSTOP']);
  signals.signal('SIGCONT');
  expect(sent).toEqual(['SIGSTOP', 'SIGSTOP', 'SIGCONT']);
});

test('one that is held can be ended', () => {
  const hold = new WorkerHold();
  const { sent, signals } = worker();
  hold.add(signals);
  hold.hold();
  hold.end();
  expect(sent).toEqual(['SIGSTOP', 'SIGKILL']);
});
