import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lossyRegistry, seededLoss } from '../registry/testing/lossy-registry.ts';
import { REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

let folder: string;
let dock: TestEngine | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-lost-answers-'));
});
afterEach(async () => {
  await dock?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.each([1, 2, 3])(
  'a sandbox goes through every state on a registry that loses answers, each move once (%i)',
  async (seed) => {
    let lost = { answers: 0, requests: 0 };
    dock = await startTestEngine({
      dataFolder: join(folder, 'data'),
      between(registry) {
        // Two in a row at most: the pauses between attempts are those of a server.
        const lossy = lossyRegistry(registry, seededLoss(seed, 2));
        ({ lost } = lossy);
        return lossy.registry;
      },
    });
    const { sandboxes } = dock;
    await dock.create('a');
    await dock.put('a', '/kept', 'what was answered');
    for (const move of ['suspend', 'freeze', 'resume', 'archive', 'revive', 'suspend'] as const) {
      await sandboxes[move]('a', REQUEST);
      expect(await dock.get('a', '/kept')).toBe('what was answered');
    }
    expect(await dock.run('a', 'cat kept; echo more > more')).toBe('what was answered');
    await dock.sandboxes.tick();
    await sandboxes.runPlan('a', 'deleted', REQUEST);
    expect(lost.answers).toBeGreaterThan(2);
    expect(lost.requests).toBeGreaterThan(2);
    const lines = (await dock.registry.ledger.after(0, 1000)).filter(({ instance }) => instance === 'a');
    const moves = lines.filter(({ type }) => type === 'transition').map(({ from, to }) => `${from} ${to}`);
    expect(moves).toEqual([
      'created active',
      'active suspended',
      'suspended frozen',
      'frozen active',
      'active archived',
      'archived active',
      'active suspended',
      'suspended active',
      'active archived',
      'archived deleted',
    ]);
    expect(lines.map(({ type }) => type).filter((type) => !/^(instance\.created|transition)$/.test(type))).toEqual([]);
    expect(await dock.registry.instances.get('a')).toMatchObject({ state: 'deleted', pending: null, ownerToken: null });
  },
);
