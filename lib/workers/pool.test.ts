import { describe } from 'vitest';
import { createPool } from './pool.ts';
import { backendContract } from './testing/contract-suite.ts';

describe('the pool of processes', () =>
  backendContract(({ checkEveryMs = 3000, ...options }) =>
    createPool({
      ...options,
      size: 1,
      cacheFolder: process.env.WB_CACHE,
      healthCheckTimes: { checkEveryMs, giveUpAfterMs: 10_000 },
    }),
  ));
