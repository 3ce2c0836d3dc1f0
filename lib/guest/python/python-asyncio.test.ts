/** asyncio, and what a sandbox has not: sockets, threads and processes. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

test('asyncio runs: tasks, timers, queues, time limits, and functions that would be threads elsewhere', async () => {
  const box = at.open('asyncio');
  const { stdout, stderr, exitCode } = await box.exec({
    command: `cat > a.py <<'X'
import asyncio, time
async def square(n):
    await asyncio.sleep(0.01 * (4 - n))
    print('square', n)
    return n * n
async def main():
    print(await asyncio.gather(*(square(n) for n in range(4))))
    queue = asyncio.Queue(maxsize=1)
    async def give():
        for n in range(3): await queue.put(n)
        await queue.put(None)
    async def take():
        while (n := await queue.get()) is not None: print('took', n)
    async with asyncio.TaskGroup() as group:
        group.create_task(give()); group.create_task(take())
    try: await asyncio.wait_for(asyncio.Event().wait(), 0.05)
    except TimeoutError: print('too late')
    print(await asyncio.to_thread(lambda: 5))
    try: await asyncio.to_thread(lambda: 1 / 0)
    except ZeroDivisionError as error: print(error)
    begun = time.monotonic()
    await asyncio.sleep(0.2)
    print(time.monotonic() - begun >= 0.19)
    raise ValueError('the end')
try: asyncio.run(main())
except ValueError as error: print(error)
loop = asyncio.new_event_loop()
print(loop.run_until_complete(asyncio.sleep(0, 'own loop')))
loop.close()
X
python3 a.py`,
  });
  expect(stderr).toBe('');
  expect(stdout.trimEnd().split('\n')).toEqual([
    ...['square 3', 'square 2', 'square 1', 'square 0', '[0, 1, 4, 9]', 'took 0', 'took 1', 'took 2', 'too late', '5'],
    ...['division by zero', 'True', 'the end', 'own loop'],
  ]);
  expect(exitCode).toBe(0);
  await box.close({ drainMs: 1000, force: false });
});

test('a socket is refused with a sentence, and the script goes on', async () => {
  const box = at.open('sockets');
  const { stdout, exitCode } = await box.exec({
    command: `python3 - <<'X'
import asyncio, socket
for make in (
    socket.socketpair,
    lambda: socket.create_connection(('127.0.0.1', 80)),
    lambda: socket.create_server(('127.0.0.1', 8000)),
    lambda: asyncio.run(asyncio.open_connection('127.0.0.1', 80)),
    lambda: asyncio.run(asyncio.create_subprocess_shell('true')),
):
    try: make(); print('made')
    except (OSError, NotImplementedError) as error: print(type(error).__name__, error)
X`,
  });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(5);
  for (const line of lines.slice(0, 4)) expect(line).toContain('a sandbox has no sockets');
  expect(lines[4]).toMatch(/^(?:OSError|NotImplementedError|PermissionError) ./);
  expect(exitCode).toBe(0);
  await box.close({ drainMs: 1000, force: false });
});

test('other programs are refused with a sentence, however they are called', async () => {
  const box = at.open('processes');
  const { stdout, stderr } = await box.exec({
    command: `python3 - <<'X'
import os, subprocess, sys
for call in (
    lambda: os.system('echo hi'),
    lambda: os.popen('echo hi').read(),
    lambda: subprocess.run(['echo', 'hi'], capture_output=True),
    lambda: subprocess.check_output('echo hi', shell=True),
    lambda: subprocess.Popen([sys.executable, '-c', 'print(1)']),
):
    try: print('ran', call())
    except OSError as error: print(error.strerror)
X`,
  });
  expect(stderr).toBe('');
  expect(stdout).toBe(
    'Python runs no other programs in a sandbox: call them in the shell, before or after it\n'.repeat(5),
  );
  await box.close({ drainMs: 1000, force: false });
});

test('a time zone that is not there is one that is not found', async () => {
  const box = at.open('zones');
  const { stdout } = await box.exec({
    command: 'python3 -c "import zoneinfo, sysconfig; zoneinfo.ZoneInfo(\'Europe/Oslo\')" 2>&1 | tail -1',
  });
  expect(stdout).toBe("zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key Europe/Oslo'\n");
  await box.close({ drainMs: 1000, force: false });
});
