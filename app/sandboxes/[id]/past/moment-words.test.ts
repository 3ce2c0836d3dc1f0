import { expect, test } from 'vitest';
import { clockOf, dayOf, grainInFull, grainInWords, secondInWords, timeFieldOf } from './moment-words.ts';

test('a moment says when it was, as the clocks of the reader show it', () => {
  const time = Date.UTC(2026, 10, 30, 4, 5, 7, 891);
  expect(secondInWords(time, 'UTC')).toBe('Mon 30 Nov 2026, 04:05:07 UTC');
  expect(secondInWords(time, 'America/New_York')).toBe('Sun 29 Nov 2026, 23:05:07 UTC-5');
  const shown = [dayOf, clockOf, timeFieldOf].map((of) => of(time, 'Europe/Berlin'));
  expect(shown).toEqual(['Mon 30 Nov 2026', '05:05:07', '2026-11-30T05:05:07']);
});

test('a moment says how coarse its time is', () => {
  const words = (grain_s: number) => grainInWords({ kind: 'commit', name: null, grain_s });
  expect([1, 60, 600, 3600, 86_400].map(words)).toEqual(['', 'minute', '10 min', 'hour', 'day']);
  expect(grainInWords({ kind: 'filing', name: null, grain_s: 86_400 })).toBe('filed');
  expect(grainInFull({ kind: 'commit', name: null, grain_s: 1 })).toBe('Committed while it was awake.');
  expect(grainInFull({ kind: 'filing', name: null, grain_s: 600 })).toBe(
    'Filed: the file was at rest. The last moment of its 10 minutes: those before it may be gone.',
  );
  const named = { kind: 'named', name: 'before the migration', grain_s: 1 } as const;
  expect(grainInWords(named)).toBe('before the migration');
  expect(grainInFull(named)).toBe('Named “before the migration”: kept until the name is removed.');
  expect(grainInWords({ ...named, name: 'x'.repeat(200) })).toBe(`${'x'.repeat(29)}…`);
});
