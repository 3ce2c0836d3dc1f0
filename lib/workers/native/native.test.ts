import { describe } from 'vitest';
import { createPool } from '../pool.ts';
import { backendContract } from '../testing/contract-suite.ts';
import { HAS_NATIVES, nativesOn, saysWhyNot } from './testing/native-stage.ts';

saysWhyNot('lib/workers/native/native.test.ts');

describe.runIf(HAS_NATIVES)('real programs pass the suite of every isolation backend', () => {
  backendContract(
    ({ checkEveryMs = 3000, ...options }) => {
      const native = nativesOn(options.dataFolder);
      return createPool({ ...options, size: 0, native, healthCheckTimes: { checkEveryMs } });
    },
    { policy: 'native', evaluates: false, hasMemorySandboxes: false },
  );
});
