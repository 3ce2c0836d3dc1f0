/** Around each of Vitest's files on Postgres: one that opens no registry there proves nothing. */
import { afterAll, expect } from 'vitest';
import { databasesAskedFor } from '../lib/registry/testing/registry-of-tests.ts';

const before = databasesAskedFor();

afterAll(() => {
  expect(databasesAskedFor(), 'this file opens no registry on Postgres').toBeGreaterThan(before);
});
