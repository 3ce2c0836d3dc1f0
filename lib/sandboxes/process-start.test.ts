import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_PROCESS } from '../base/started-process-id.ts';
import { stage } from './testing/stage.ts';
import { observeOpens, REQUEST } from './testing/test-engine.ts';

const at = stage();

/** Kills the next processes of the pool as soon as they are handed a file. Returns how many were handed one. */
function killOpening(count: number): { opened: number } {
  const seen = { opened: 0 };
  observeOpens(at.dock.pool, (opening) => {
    seen.opened += 1;
    const kill = () => {
      if (opening.pid === NO_PROCESS) setTimeout(kill, 1);
      else process.kill(opening.pid, 'SIGKILL');
    };
    if (seen.opened <= count) kill();
  });
  return seen;
}

describe.each(['created', 'suspended', 'frozen', 'archived'])('a wake from %s', (state) => {
  const prepare = async () => {
    await at.dock.create('a');
    if (state === 'created') return;
    await at.dock.put('a', '/x', 'kept');
    await at.dock.sandboxes.suspend('a', REQUEST);
    if (state === 'frozen') await at.dock.sandboxes.freeze('a', REQUEST);
    if (state === 'archived') await at.dock.sandboxes.runPlan('a', 'archived', REQUEST);
  };

  test('whose process is killed while it opens gets another, unnoticed by the caller', async () => {
    await prepare();
    const seen = killOpening(1);
    if (state === 'archived') await at.dock.sandboxes.revive('a', REQUEST);
    expect(await at.dock.run('a', 'echo here; cat x 2>/dev/null')).toBe(state === 'created' ? 'here\n' : 'here\nkept');
    expect(seen.opened).toBe(2);
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null, pending: null });
  });

  test('whose second process is killed too is refused for now, and nothing has changed', async () => {
    await prepare();
    const before = await at.dock.registry.instances.get('a');
    const seen = killOpening(2);
    const refused = { code: 'capacity', retryAfterSeconds: 5 };
    const wake =
      state === 'archived' ? at.dock.sandboxes.revive('a', REQUEST) : at.dock.run('a', 'echo here > y; cat y');
    await expect(wake).rejects.toMatchObject(refused);
    expect(seen.opened).toBe(2);
    const after = await at.dock.registry.instances.get('a');
    expect(after).toMatchObject({ state, fault: null, pending: null, vfsPath: before?.vfsPath });
    expect(readdirSync(join(at.folder, 'orphans'))).toEqual([]);
    if (state === 'archived') await at.dock.sandboxes.revive('a', REQUEST);
    expect(await at.dock.run('a', 'echo here > y; cat y x 2>/dev/null')).toBe(
      state === 'created' ? 'here\n' : 'here\nkept',
    );
  });
});
