/** For tests: a registry file with its keeper, on a clock that moves only when told to, and ways to tamper with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { FakeClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { openSigner, type Signer } from '../../base/signing.ts';
import { claimsOf } from '../../claims/testing/claims-of.ts';
import type { RegistryDriver } from '../../registry/driver.ts';
import type { Registry } from '../../registry/registry.ts';
import { entry, THRESHOLDS } from '../../registry/testing/fixtures.ts';
import { fileDriver } from '../../registry/testing/open-test-registry.ts';
import { createLedgerMaintenance, type LedgerMaintenance } from '../ledger-maintenance.ts';

export interface TestLedger {
  folder: string;
  /** Of the registry. */
  path: string;
  driver: RegistryDriver;
  clock: FakeClock;
  signer: Signer;
  registry: Registry;
  keeper: LedgerMaintenance;
  /** Appends `count` lines, a second apart. */
  write(count: number): Promise<void>;
  /** Stops the keeper and closes the file. */
  close(): Promise<void>;
  /** Opens it again, as another start of the server. */
  reopen(options?: { keepDays?: number }): Promise<void>;
  /** Changes the closed file unnoticed, with its triggers dropped. */
  tamper(change: (client: Database.Database) => void): void;
  discard(): Promise<void>;
}

/** Epoch milliseconds of the first of June 2026. */
export const JUNE = Date.UTC(2026, 5, 1);
export const DAY_SECONDS = 86_400;

/** Opens one in a folder of its own. */
export async function openTestLedger(options: { keepDays?: number } = {}): Promise<TestLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-ledger-'));
  const path = join(folder, 'registry.sqlite');
  const driver = fileDriver(path);
  const clock = new FakeClock(JUNE);
  let open = false;
  const book: TestLedger = {
    folder,
    path,
    driver,
    clock,
    signer: openSigner(folder),
    registry: undefined as unknown as Registry,
    keeper: undefined as unknown as LedgerMaintenance,
    async write(count) {
      for (let n = 0; n < count; n += 1) {
        clock.advance(1);
        await book.registry.ledger.append([
          entry({
            timeMs: clock.now(),
            instance: `sb-${n % 7}`,
            tenant: 'acme',
            reason: `because ${n}`,
            tookMs: n / 3,
          }),
        ]);
      }
    },
    async close() {
      if (!open) return;
      open = false;
      await book.keeper.stop();
      await book.registry.close();
    },
    async reopen({ keepDays } = {}) {
      await book.close();
      book.signer = openSigner(folder);
      book.registry = await driver.open({ thresholds: THRESHOLDS, clock });
      const claims = claimsOf(book.registry, { alone: true });
      await claims.start();
      book.keeper = createLedgerMaintenance({
        claims,
        registry: book.registry,
        headPath: driver.headPath,
        signer: book.signer,
        clock,
        log: createLogger('silent'),
        keepDays: keepDays ?? null,
        tickMs: 3_600_000,
      });
      open = true;
      await book.keeper.start();
    },
    tamper(change) {
      const client = new Database(path);
      const triggers = client
        .prepare<[], { name: string; sql: string }>(
          "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('events', 'ledger_segments')",
        )
        .all();
      for (const { name } of triggers) client.exec(`DROP TRIGGER ${name}`);
      change(client);
      for (const { sql } of triggers) client.exec(sql);
      client.close();
    },
    async discard() {
      await book.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await book.reopen(options);
  return book;
}
