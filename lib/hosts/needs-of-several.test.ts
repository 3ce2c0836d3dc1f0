import { expect, test } from 'vitest';
import { readConfig } from '../base/config.ts';
import { hostAmongSeveral, lacksForSeveral, neededForSeveral } from './needs-of-several.ts';

const WHOLE = {
  WB_DATA: '/tmp/of-no-server',
  WB_REGISTRY: 'postgres://one@127.0.0.1/registry',
  WB_HOST_NAME: 'one',
  WB_HOST_URL: 'https://one.internal:3000/',
  WB_COLD_URL: 's3://bucket/prefix',
};

test('a server with a registry on Postgres, an address and a store lacks nothing', () => {
  const config = readConfig(WHOLE);
  expect(lacksForSeveral(config)).toEqual([]);
  expect(hostAmongSeveral(config)).toBe('one');
});

test.each([
  [
    'its registry is a file',
    { WB_REGISTRY: '/tmp/of-no-server/registry.sqlite' },
    'WB_REGISTRY, a registry on Postgres',
  ],
  ['it has no address', { WB_HOST_URL: undefined }, 'WB_HOST_URL, the address at which the other servers reach it'],
  ['it has no store', { WB_COLD_URL: undefined }, 'WB_COLD_URL, the object store that all of them have'],
  ['its files come back from the store', { WB_STORE_LEAVING: '1' }, 'WB_STORE_LEAVING to be unset'],
])('where %s, a server has its registry for itself and says what it lacks', (_what, change, says) => {
  const config = readConfig({ ...WHOLE, ...change });
  const lacks = lacksForSeveral(config);
  expect(lacks).toEqual([expect.stringContaining(says)]);
  expect(neededForSeveral(lacks)).toContain(says);
  expect(hostAmongSeveral(config)).toBeNull();
});
