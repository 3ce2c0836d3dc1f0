/** Places, claims and memory of a pool: what every isolation backend promises. */
import { describe, expect, test } from 'vitest';
import { type BackendFixture, MIB } from './backend-fixture.ts';

export function placeCases(backend: BackendFixture): void {
  const { specOf, withPool } = backend;

  describe('places', () => {
    const inMemory = (id: string) => specOf(id, { file: ':memory:', policy: 'minimal' });

    test('no more processes are opened than there are places, and an ended one frees its place', async () => {
      await withPool({ maxActive: 1 }, async (one) => {
        const a = one.open(inMemory('a'));
        expect([one.active, one.shortage]).toEqual([1, 'places']);
        expect(() => one.open(inMemory('b'))).toThrow(expect.objectContaining({ code: 'capacity' }));
        expect(() => one.claim()).toThrow(expect.objectContaining({ code: 'capacity' }));
        await a.kill('killed');
        expect([one.active, one.shortage]).toEqual([0, null]);
      });
    });

    test('a claim counts until it is released, and can be released twice', async () => {
      await withPool({ maxActive: 2 }, async (two) => {
        const [first, second] = [two.claim(), two.claim()];
        expect(two.shortage).toBe('places');
        first.release();
        first.release();
        expect(two.shortage).toBeNull();
        two.claim();
        expect(two.shortage).toBe('places');
        second.release();
        expect(two.shortage).toBeNull();
      });
    });

    test('when the memory budget has no room for one more process, none is opened', async () => {
      await withPool({ maxActive: 100, memoryBytes: 64 * MIB }, async (small) => {
        let claims = 0;
        for (; small.shortage === null; claims += 1) small.claim();
        expect(claims).toBeGreaterThan(0);
        expect(claims).toBeLessThan(100);
        expect(small.shortage).toBe('memory');
        expect(small.memory.servingBytes).toBeLessThanOrEqual(64 * MIB);
        expect(() => small.open(inMemory('a'))).toThrow(expect.objectContaining({ code: 'capacity' }));
      });
    });

    test('a stop ends every process, may be repeated, and nothing is opened after it', async () => {
      await withPool({ maxActive: 5 }, async (several) => {
        const opened = ['a', 'b'].map((id) => several.open(inMemory(id)));
        await Promise.all(opened.map((process) => process.opened));
        await Promise.all([several.stop(), several.stop()]);
        for (const process of opened) expect(await process.ended).toMatchObject({ cause: expect.any(String) });
        expect([several.active, several.ready]).toEqual([0, 0]);
        expect(() => several.open(inMemory('c'))).toThrow(expect.objectContaining({ code: 'capacity' }));
      });
    });
  });
}
