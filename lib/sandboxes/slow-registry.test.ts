/** The engine on a registry with slow answers: the named suites hold there too. */
import { describe, vi } from 'vitest';

vi.stubEnv('WB_TEST_REGISTRY', 'late');

describe('with a slow registry', async () => {
  await import('./sandboxes.test.ts');
  await import('./recovery/settle.test.ts');
  await import('./moves/run-plan.test.ts');
  await import('./moves/stop.test.ts');
  await import('./moves/ephemeral.test.ts');
  await import('./files/prefetch.test.ts');
});
