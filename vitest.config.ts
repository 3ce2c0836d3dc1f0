import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const cache = (name: string) => fileURLToPath(new URL(`node_modules/.cache/${name}`, import.meta.url));

export default defineConfig({
  test: {
    include: [
      'lib/**/*.test.ts',
      'db/**/*.test.ts',
      'app/**/*.test.ts',
      'components/**/*.test.ts',
      'e2e/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    // The processes that tests start share compiled code, as they do under one server.
    env: { NODE_COMPILE_CACHE: cache('winterdock'), WB_CACHE: cache('winterdock-workers') },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // A busy machine is no failure: what is waited for comes, or never does.
    expect: { poll: { timeout: 15_000 } },
  },
});
