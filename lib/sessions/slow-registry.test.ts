/** The engine on a registry with slow answers: the named suites hold there too. */
import { describe, vi } from 'vitest';

vi.stubEnv('WB_TEST_REGISTRY', 'late');

describe('with a slow registry', async () => {
  await import('./sessions.test.ts');
  await import('./settle.test.ts');
  await import('./plan.test.ts');
  await import('./stop.test.ts');
  await import('./ephemeral.test.ts');
  await import('./prefetch.test.ts');
});
