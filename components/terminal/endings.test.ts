import { expect, test } from 'vitest';
import { actorIn } from './endings.ts';

test('a line of somebody else says who typed it, by name, and one of one’s own says nothing', () => {
  const mara = { actor: 'user:abc', actor_name: 'Mara Lind' };
  expect(actorIn(mara, 'user:xyz')).toBe('Mara Lind');
  expect(actorIn(mara, 'user:abc')).toBeNull();
  expect(actorIn({ actor: 'key:k1', actor_name: 'nightly' }, 'user:abc')).toBe('The key nightly');
  expect(actorIn({ actor: 'key:admin', actor_name: null }, 'user:abc')).toBe('The admin key');
  expect(actorIn({ actor: 'user:gone', actor_name: null }, 'user:abc')).toBe('A person');
  expect(actorIn({}, 'user:abc')).toBeNull();
});

test('a name writes nothing but its letters', () => {
  expect(actorIn({ actor: 'user:a', actor_name: 'Ma\x1b[2Jra\r\n$ rm' }, 'user:b')).not.toMatch(/[\x1b\r\n]/);
});
