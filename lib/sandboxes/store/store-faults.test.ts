import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import { WinterdockError } from '../../base/errors.ts';
import { storeAway } from '../../storage/object-store/store-errors.ts';
import { REQUEST } from '../testing/test-engine.ts';
import { storeStage } from './testing/store-stage.ts';

const at = storeStage();

let object: string;
let whole: Buffer;

/** A frozen sandbox that is only in the store, which then has other bytes of it. */
async function lied(id = 'a', to: 'frozen' | 'archived' = 'frozen'): Promise<void> {
  await at.rest(id, to);
  object = at.objectOf(await at.rowOf(id));
  whole = readFileSync(object);
  writeFileSync(object, 'x'.repeat(4096), { mode: 0o600 });
  rmSync(at.copyOf(id, to === 'archived' ? 'archive' : 'cold'));
}
const mend = () => writeFileSync(object, whole);
const resume = (id = 'a') => at.dock.sandboxes.resume(id, REQUEST);
const look = async () => at.dock.sandboxes.store?.lookAtFaults();

async function expectMended(id = 'a'): Promise<void> {
  expect(await at.rowOf(id)).toMatchObject({ fault: null, faultReason: null });
  const { rows } = await at.dock.registry.ledger.page({ instance: id, type: 'fault.cleared' }, 5);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    actor: 'system',
    source: 'cloud',
    reason: expect.stringContaining('as it was filed'),
  });
  expect(await at.dock.get(id, '/kept')).toBe(`of ${id}`);
}

let lies = 0;
let marker: WinterdockError | null = null;
const asked: string[] = [];
/** Downloads that lie as often as `lies` says, and a marker that is there unless it is said to be away. */
const options = () => ({
  objects: {
    ...at.objects,
    download: (...[name, path, given]: Parameters<typeof at.objects.download>) => {
      asked.push('download');
      if (lies === 0) return at.objects.download(name, path, given);
      lies -= 1;
      return Promise.reject(new WinterdockError('corrupt', 'The object is not what was stored.'));
    },
  },
  requireMarker: () => {
    asked.push('marker');
    return marker === null ? Promise.resolve() : Promise.reject(marker);
  },
});
beforeEach(() => {
  lies = 0;
  marker = null;
  asked.length = 0;
});

test('wrong bytes of one download are read again in another, and are no fault', async () => {
  await at.start(options());
  await at.rest('a');
  rmSync(at.copyOf('a'));
  lies = 1;
  expect((await resume()).source).toBe('cloud');
  expect(asked).toEqual(['download', 'marker', 'download']);
  expect((await at.rowOf('a')).fault).toBeNull();
});

test('wrong bytes of two downloads are a fault only with the marker there after each', async () => {
  await at.start(options());
  await at.rest('a');
  rmSync(at.copyOf('a'));
  for (const away of ['no_marker', 'refused'] as const) {
    asked.length = 0;
    lies = 2;
    marker = storeAway(away);
    await expect(resume()).rejects.toMatchObject({ code: 'storage_unavailable', extra: { away } });
    expect(asked).toEqual(['download', 'marker']);
    expect(await at.rowOf('a')).toMatchObject({ fault: null, state: 'frozen', pending: null });
  }
  marker = null;
  asked.length = 0;
  lies = 2;
  await expect(resume()).rejects.toMatchObject({ code: 'corrupt' });
  expect(asked).toEqual(['download', 'marker', 'download', 'marker']);
  expect((await at.rowOf('a')).fault).toBe('corrupt');
});

test.each(['frozen', 'archived'] as const)('the wake that finds a %s object right again ends the fault', async (to) => {
  await at.start();
  await lied('a', to);
  for (const _ of [1, 2]) await expect(resume()).rejects.toMatchObject({ code: 'corrupt' });
  expect((await at.typesOf('a')).filter((type) => type === 'fault.raised')).toHaveLength(1);
  mend();
  await resume();
  await expectMended();
});

test('a command and a read find it right again as well, and what an engine finds at its next start', async () => {
  await at.start();
  for (const [id, ask] of [
    ['a', () => at.dock.get('a', '/kept')],
    ['b', () => at.dock.run('b', 'cat kept')],
    ['c', () => at.dock.sandboxes.prefetch('c', REQUEST)],
  ] as const) {
    await lied(id);
    await expect(resume(id)).rejects.toMatchObject({ code: 'corrupt' });
    if (id === 'b') await at.start();
    mend();
    await ask();
    await expectMended(id);
  }
});

test('a look in the background ends the fault of what nobody asks for, and looks more and more seldom', async () => {
  const clock = new FakeClock();
  await at.start(options(), { clock });
  await lied();
  await expect(resume()).rejects.toMatchObject({ code: 'corrupt' });
  const looks = async () => {
    asked.length = 0;
    await look();
    return asked.filter((what) => what === 'download').length > 0;
  };
  expect(await looks()).toBe(true);
  expect(await looks()).toBe(false);
  clock.advance(61);
  expect(await looks()).toBe(true);
  clock.advance(61);
  expect(await looks()).toBe(false);
  mend();
  clock.advance(60);
  expect(await looks()).toBe(true);
  await expectMended();
});

test('while the store is away it is said to be away, and the fault stays as it is', async () => {
  await at.start();
  await lied();
  await expect(resume()).rejects.toMatchObject({ code: 'corrupt' });
  at.away(true);
  await expect(resume()).rejects.toMatchObject({ code: 'storage_unavailable' });
  await expect(look()).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect((await at.rowOf('a')).fault).toBe('corrupt');
  at.away(false);
  mend();
  await resume();
  await expectMended();
});

test('an object that was said to be lost and is there again ends the fault; one that is lost stays missing', async () => {
  await at.start();
  await lied();
  rmSync(object);
  await expect(resume()).rejects.toMatchObject({ code: 'missing_file' });
  await expect(resume()).rejects.toMatchObject({ code: 'missing_file' });
  expect((await at.rowOf('a')).fault).toBe('missing');
  mend();
  await resume();
  await expectMended();
});

test('the fault of a file whose structure was found damaged does not end by its bytes', async () => {
  await at.start();
  await at.rest('a');
  const { file, generation } = await at.rowOf('a');
  await at.dock.registry.instances.recordCheck('a', generation, {
    sha256: file?.sha256 ?? '',
    quickCheck: 'row 3 is missing',
  });
  rmSync(at.copyOf('a'));
  await expect(resume()).rejects.toMatchObject({ code: 'corrupt' });
  expect((await at.rowOf('a')).fault).toBe('corrupt');
  await expect(resume()).rejects.toMatchObject({ code: 'corrupt' });
  expect((await at.rowOf('a')).fault).toBe('corrupt');
});
