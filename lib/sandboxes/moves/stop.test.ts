/** A stop while an operation is under way: nothing is lost, and no fault is raised. */
import { expect, test } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import type { Failpoint } from '../recovery/failpoints.ts';
import { stage } from '../testing/stage.ts';
import { REQUEST } from '../testing/test-engine.ts';

const at = stage();

test.each<Failpoint>(['resume.intent', 'resume.brought', 'resume.opened'])(
  'a stop that comes when a wake has reached "%s" leaves the sandbox asleep with its work and without a fault',
  async (when) => {
    let stopped: Promise<void> | null = null;
    let armed = false;
    await at.restart({
      failpoint: (step) => {
        if (armed && step === when) stopped ??= at.dock.sandboxes.stop();
      },
    });
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'kept');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    armed = true;
    const answer = await at.dock.sandboxes.exec('a', { command: 'cat x' }, REQUEST).then(
      ({ stdout }) => stdout,
      (error: { code: string }) => error.code,
    );
    expect(answer).toMatch(/^(kept|capacity|conflict)$/);
    await stopped;
    const row = await at.dock.registry.instances.get('a');
    expect(row).toMatchObject({ pending: null, fault: null, failures: 0 });
    expect(row?.state).toMatch(/^(frozen|suspended)$/);
    const { rows } = await at.dock.registry.ledger.page({ instance: 'a' }, 100);
    expect(rows.filter(({ type, trigger }) => type === 'fault.raised' || trigger === 'crash')).toEqual([]);

    await at.restart();
    expect(await at.dock.run('a', 'cat x')).toBe('kept');
  },
);

test.each([
  ['a commit', ['commit']],
  ['an intent', ['commit', 'commit_soon']],
])(
  'a stop on a disk that does not take %s does not fail, and what was written is read after the next start',
  async (_, refused) => {
    await at.restart();
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'kept');
    observeEffects({
      before: ({ kind }) => {
        if (refused.includes(kind))
          throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
      },
    });
    try {
      await at.dock.sandboxes.stop();
    } finally {
      observeEffects(null);
    }
    await at.restart();
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'suspended', pending: null, fault: null });
    expect(await at.dock.get('a', '/x')).toBe('kept');
    expect(await at.dock.run('a', 'cat x')).toBe('kept');
  },
);
