import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** What a process of its own group says that starts a worker which cannot be started, and signals it at once. */
function signalled(signal: string): { signal: string | null; stdout: string; stderr: string } {
  const module = join(import.meta.dirname, '..', 'workers', 'process.ts');
  const script = `const { startWorkerProcess } = await import(${JSON.stringify(module)});
    const worker = startWorkerProcess(['/no/such/program'], {});
    worker.child.kill(${JSON.stringify(signal)});
    console.log(await worker.exited);`;
  const args = [process.execPath, '--no-warnings', '--input-type=module', '-e', script];
  return spawnSync('setsid', ['--wait', ...args], { encoding: 'utf8', timeout: 240_000 });
}

test('a signal to a process that could not be started reaches nobody else', () => {
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGSTOP']) {
    expect(signalled(signal)).toMatchObject({ stdout: 'spawn /no/such/program ENOENT\n', stderr: '' });
  }
});
