import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeEffects } from '../base/effects.ts';
import { openHost, openStage, type Stage } from '../testing/faults/stage.ts';

let base = '';
let stage: Stage;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'winterdock-resting-'));
  mkdirSync(join(base, 'data'), { mode: 0o700 });
  stage = await openStage(join(base, 'data'), null, ['replica']);
});
afterEach(async () => {
  observeEffects(null);
  await stage.stop();
  rmSync(base, { recursive: true, force: true });
});

test('a file at rest that could not be copied when the server started is shipped a little later', async () => {
  const id = await stage.sandbox('suspended');
  const folder = await stage.copied();
  // As from before there was a replica.
  rmSync(join(folder, 'replica'), { recursive: true });
  let refusals = 0;
  observeEffects({
    before({ kind, path }) {
      if (kind !== 'make_folder' || !path.includes('/replica/resting/') || refusals === 2) return;
      refusals += 1;
      throw Object.assign(new Error('ENOSPC: injected by a test'), { code: 'ENOSPC', syscall: 'mkdir' });
    },
  });
  const host = await openHost(folder, stage.clock, null, ['replica']);
  try {
    await expect
      .poll(async () => {
        const row = await host.registry.instances.get(id);
        return row !== null && host.replica?.files.hasFileOf(row);
      })
      .toBe(true);
    expect(refusals).toBe(2);
  } finally {
    await host.stop();
  }
});
