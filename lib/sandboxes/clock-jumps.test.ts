import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { stage } from './testing/stage.ts';
import { REQUEST } from './testing/test-engine.ts';

const at = stage();
const DAY = 86_400;
const linesOf = async () => (await at.dock.registry.ledger.page({ type: 'clock.set_back' }, 10)).rows;

test('a clock that was far ahead and is set back stops no demotion, and a ledger line records the corrections', async () => {
  for (const id of ['awake', 'asleep', 'early', 'called']) await at.dock.create(id);
  await at.dock.put('early', '/x', 'kept');
  await at.dock.sandboxes.suspend('early', REQUEST);
  await at.dock.sandboxes.freeze('early', REQUEST);
  at.dock.clock.advance(40 * DAY);
  await at.dock.put('awake', '/x', 'kept');
  await at.dock.put('asleep', '/x', 'kept');
  await at.dock.sandboxes.suspend('asleep', REQUEST);
  await at.dock.sandboxes.prefetch('early', REQUEST);
  await at.dock.sandboxes.tick();
  // Activity that is still in memory when the clock goes back.
  await at.dock.run('called', 'true');
  at.dock.clock.advance(-40 * DAY);
  await at.dock.sandboxes.tick();
  expect((await linesOf()).map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/^the clock was set back: [34] sandboxes were last used in the future/),
  ]);
  expect((await at.dock.registry.instances.get('early'))?.vfsPath).toBe('cold/early.sqlite');
  const nowSeconds = Math.floor(at.dock.clock.now() / 1000);
  for (const id of ['awake', 'asleep', 'called']) {
    expect((await at.dock.registry.instances.get(id))?.updated, id).toBe(nowSeconds);
  }
  at.dock.clock.advance(901);
  await at.dock.sandboxes.tick();
  expect([await at.stateOf('awake'), await at.stateOf('called')]).toEqual(['suspended', 'suspended']);
  at.dock.clock.advance(DAY - 901);
  await at.dock.sandboxes.tick();
  expect(await at.stateOf('asleep')).toBe('frozen');
  expect(await linesOf()).toHaveLength(1);
});

test('a start corrects future times too', async () => {
  await at.dock.create('a');
  await at.dock.put('a', '/x', 'kept');
  at.dock.clock.advance(40 * DAY);
  await at.dock.run('a', 'true');
  const start = at.dock.clock.now() - 40 * DAY * 1000;
  await at.restart({ clock: new FakeClock(start) });
  expect(await linesOf()).toHaveLength(1);
  at.dock.clock.advance(DAY);
  await at.dock.sandboxes.tick();
  expect(await at.stateOf('a')).toBe('frozen');
});

test('a terminal that is open when the clock is set back keeps its sandbox active no longer than any other', async () => {
  await at.dock.create('a');
  await at.dock.put('a', '/x', 'kept');
  at.dock.clock.advance(40 * DAY);
  await at.dock.sandboxes.attach('a', 'terminal');
  at.dock.clock.advance(-40 * DAY);
  await at.dock.sandboxes.tick();
  at.dock.clock.advance(600);
  await at.dock.sandboxes.tick();
  at.dock.clock.advance(901);
  await at.dock.sandboxes.tick();
  expect(await at.stateOf('a')).toBe('suspended');
});

test('a clock that is set back by seconds corrects nothing', async () => {
  await at.dock.create('a');
  await at.dock.put('a', '/x', 'kept');
  at.dock.clock.advance(-5);
  await at.dock.sandboxes.tick();
  expect(await linesOf()).toHaveLength(0);
});
