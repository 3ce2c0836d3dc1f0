/** The engine on a registry whose every answer comes late: what the named suites say of it holds there too. */
import { describe, vi } from 'vitest';

vi.stubEnv('WB_TEST_REGISTRY', 'late');

describe('with a registry that answers late', async () => {
  await import('./sessions.test.ts');
  await import('./settle.test.ts');
  await import('./plan.test.ts');
  await import('./stop.test.ts');
  await import('./ephemeral.test.ts');
  await import('./prefetch.test.ts');
});
