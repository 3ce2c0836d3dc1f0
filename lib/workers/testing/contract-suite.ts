/**
 * The suite that every isolation backend passes: a case for each promise of instance.ts that callers depend on. It sees
 * a pool, its processes and the files that they leave, and nothing of how a process is made.
 */
import { afterAll, beforeAll } from 'vitest';
import type { InstancePool } from '../protocol/instance.ts';
import { type BackendKind, type BackendOptions, backendFixture } from './backend-fixture.ts';
import { callCases } from './call-cases.ts';
import { endingCases } from './ending-cases.ts';
import { openingCases } from './opening-cases.ts';
import { pausingCases } from './pausing-cases.ts';
import { placeCases } from './place-cases.ts';

export type { BackendOptions } from './backend-fixture.ts';

/** Runs the suite on the pools that `make` returns. `kind`: what their sandboxes are, and what those have not. */
export function backendContract(
  make: (options: BackendOptions) => InstancePool,
  kind: Partial<BackendKind> = {},
): void {
  const backend = backendFixture(make, kind);
  beforeAll(() => backend.start());
  afterAll(() => backend.stop());

  openingCases(backend);
  callCases(backend);
  endingCases(backend);
  pausingCases(backend);
  placeCases(backend);
}
