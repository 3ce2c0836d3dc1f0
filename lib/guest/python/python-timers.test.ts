/** `signal.alarm`, `signal.setitimer` and `time.sleep`. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

test('an alarm without a handler ends a program that sleeps or computes, and the script goes on', async () => {
  const [slept, computed, alone] = await at.runAll(
    'alarms',
    `python3 -c 'import signal, time; signal.alarm(1); time.sleep(600)'; echo $?`,
    `python3 -c '
import signal
signal.setitimer(signal.ITIMER_REAL, 0.2)
while True: pass'; echo $?`,
    `python3 -c 'import sys; sys.exit(142)'`,
  );
  expect(slept).toMatchObject({ stdout: '142\n', stderr: 'Alarm clock\n', exitCode: 0 });
  expect(computed).toMatchObject({ stdout: '142\n', stderr: 'Alarm clock\n', exitCode: 0 });
  expect(alone).toMatchObject({ stdout: '', stderr: '', exitCode: 142 });
});

test('a handler is called at its time, during a sleep, a loop and a call of the library, and its error goes on', async () => {
  const [ran] = await at.runAll(
    'handlers',
    `cat > a.py <<'X'
import re, signal, time
class Late(Exception): pass
def late(number, frame): raise Late(signal.Signals(number).name)
signal.signal(signal.SIGALRM, late)
def spin():
    n = 0
    while True: n += 1
def search():
    while True: re.search('a+b', 'a' * 300)
for work in (lambda: time.sleep(600), spin, search):
    signal.alarm(1)
    try: work()
    except Late as error: print('late', error)
    finally: signal.alarm(0)
print(signal.alarm(50), signal.alarm(0) in (49, 50), signal.getsignal(signal.SIGALRM) is late)
ticks = []
signal.signal(signal.SIGALRM, lambda number, frame: ticks.append(number))
print(signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05))
begun = time.monotonic()
while len(ticks) < 3: time.sleep(0.01)
signal.setitimer(signal.ITIMER_REAL, 0)
print(ticks, time.monotonic() - begun >= 0.14)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0.01)
begun = time.monotonic()
time.sleep(0.1)
print(time.monotonic() - begun >= 0.099)
X
python3 a.py`,
  );
  expect(ran).toMatchObject({
    stdout: 'late SIGALRM\nlate SIGALRM\nlate SIGALRM\n0 True True\n(0.0, 0.0)\n[14, 14, 14] True\nTrue\n',
    stderr: '',
    exitCode: 0,
  });
});

test('a sleep has the errors of the real one, takes no processor, and ends with the time of its command', async () => {
  const [errors, idle, ended] = await at.runAll(
    'sleeps',
    `python3 -c '
import time
for given in (-1, "1", None, float("nan")):
    try: time.sleep(given)
    except (ValueError, TypeError) as error: print(type(error).__name__, error)
time.sleep(0); time.sleep(0.0001); time.sleep(True); print(time.sleep.__name__)'`,
    `TIMEFORMAT=%U; time python3 -c 'import time; time.sleep(6)'`,
    `timeout 2 python3 -c 'import time; time.sleep(600)'; echo $?`,
  );
  expect(errors?.stdout.split('\n')).toEqual([
    'ValueError sleep length must be non-negative',
    "TypeError 'str' object cannot be interpreted as an integer",
    "TypeError 'NoneType' object cannot be interpreted as an integer",
    'ValueError Invalid value NaN (not a number)',
    'sleep',
    '',
  ]);
  // The start of an interpreter takes one to two seconds of it.
  expect(Number(idle?.stderr)).toBeLessThan(5);
  expect(ended?.stdout).toBe('124\n');
});
